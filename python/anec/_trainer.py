# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training a session step by step."""
from __future__ import annotations

import sys
import typing

import numpy.typing

from . import _anec
from ._arguments import check_names
from ._session import Session

if sys.version_info >= (3, 11):
    from typing import Unpack
elif typing.TYPE_CHECKING:
    from typing_extensions import Unpack


class Step(typing.NamedTuple):
    """What a step did."""
    step: int     #: from 1 on
    loss: float   #: the mean of its runs
    gradient_norm: float
    learning_rate: float
    loss_scale: float
    skipped: bool  #: a number was not finite: no weight has changed


class Hyperparameters(typing.TypedDict, total=False):
    """Those of AdamW and of the loop of training; docs/use/train.md describes them."""
    learning_rate: float
    min_learning_rate: float
    warmup: float
    decay_steps: float
    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    clip: float
    loss_scale: float
    loss_scale_growth: float
    seed: int


class Trainer:
    """AdamW over the weights of a Session.

    entry            the entry that trains; None: the only one
    hyperparameters  learning_rate, min_learning_rate, warmup, decay_steps, beta1,
                     beta2, epsilon, weight_decay, clip, loss_scale,
                     loss_scale_growth; docs/use/train.md describes them.
                     `seed` is that of random masks, such as dropout's
    """

    def __init__(self, session: Session, entry: typing.Optional[str] = None,
                 **hyperparameters: Unpack[Hyperparameters]) -> None:
        """Raises anec.Error when no entry trains or a hyperparameter is out of its
        range, and TypeError for one that does not exist and for what is no Session."""
        if not isinstance(session, Session):
            raise TypeError(f"a trainer takes a Session, not {type(session).__name__}")
        check_names(hyperparameters, sorted(Hyperparameters.__optional_keys__),
                    "hyperparameter")
        self._session = session
        self._handle = _anec.Trainer(session._handle, entry, hyperparameters)
        self._entry = entry or next(name for name in session.entries
                                    if session.trains(name))

    def accumulate(self, inputs: typing.Mapping[str, numpy.typing.ArrayLike]) -> float:
        """Runs forward and backward with a dict of arrays, of the shapes of
        `Session.inputs`, and adds the gradients to those of this step. Returns the
        loss. Raises what `Session.run` raises; all runs of the step are then
        discarded."""
        return self._handle.accumulate(
            self._session._as_inputs(inputs, self._entry))

    def update(self) -> Step:
        """Ends the step: changes the weights by the mean of the gradients.
        Returns a Step. Raises anec.Error when there was no run, or when no finite
        gradients can be expected any more."""
        return Step(*self._handle.update())

    def step(self, inputs: typing.Mapping[str, numpy.typing.ArrayLike]) -> Step:
        """Both, for a step of one run. Raises what they raise."""
        self.accumulate(inputs)
        return self.update()
