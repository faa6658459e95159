# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training a session step by step."""
import typing

from . import _anec


class Step(typing.NamedTuple):
    """What a step did."""
    step: int     #: from 1 on
    loss: float   #: the mean of its runs
    gradient_norm: float
    learning_rate: float
    loss_scale: float
    skipped: bool  #: a number was not finite: no weight has changed


class Trainer:
    """AdamW over the weights of a Session.

    entry            the entry that trains; None: the only one
    hyperparameters  learning_rate, min_learning_rate, warmup, decay_steps, beta1,
                     beta2, epsilon, weight_decay, clip, loss_scale,
                     loss_scale_growth; docs/train.md describes them.
                     `seed` is that of random masks, such as dropout's
    """

    def __init__(self, session, entry=None, **hyperparameters):
        self._session = session
        self._handle = _anec.Trainer(session._handle, entry, hyperparameters)
        self._entry = entry or next(name for name in session.entries
                                    if session.trains(name))

    def accumulate(self, inputs):
        """Runs forward and backward with a dict of arrays and adds the gradients
        to those of this step. Returns the loss."""
        return self._handle.accumulate(
            self._session._as_inputs(inputs, self._entry))

    def update(self):
        """Ends the step: changes the weights by the mean of the gradients.
        Returns a Step."""
        return Step(*self._handle.update())

    def step(self, inputs):
        """Both, for a step of one run."""
        self.accumulate(inputs)
        return self.update()
