"""Every public function, class, method and property of a module of the package has a
documentation and types for all parameters and its result. What takes arguments says what
it raises.

usage: signatures.py MODULE..."""
import importlib
import inspect
import sys
import typing


def members(name, thing):
    """Pairs of a name and a function for what a user can call of `thing`."""
    if inspect.isfunction(thing):
        yield name, thing
    if not inspect.isclass(thing):
        return
    for part, value in vars(thing).items():
        if part.startswith("_") and part not in ("__init__", "__next__", "__call__"):
            continue
        if isinstance(value, property):
            yield f"{name}.{part}", value.fget
        elif inspect.isfunction(value):
            yield f"{name}.{part}", value


def problems(name, thing):
    if inspect.isclass(thing) and issubclass(thing, tuple):
        # A record: each field has a type.
        types = typing.get_type_hints(thing)
        return [f"{name}.{field}: no type" for field in thing._fields if field not in types]
    found = []
    if not inspect.getdoc(thing):
        found.append(f"{name}: no documentation")
    for part, function in members(name, thing):
        signature, types = inspect.signature(function), typing.get_type_hints(function)
        found += [f"{part}: `{parameter}` has no type" for parameter in signature.parameters
                  if parameter != "self" and parameter not in types]
        if "return" not in types:
            found.append(f"{part}: no type of the result")
        text = function.__doc__ or ""
        if not text:
            found.append(f"{part}: no documentation")
        takes = [parameter for parameter in signature.parameters.values()
                 if parameter.name != "self" and parameter.annotation not in (bool, "bool")]
        if takes and not ("Raises" in text or name == "Error"):
            found.append(f"{part}: no word of what it raises")
    return found


wrong = []
count = 0
for module in map(importlib.import_module, sys.argv[1:]):
    for name in module.__all__:
        wrong += problems(name, getattr(module, name))
        count += 1
print("\n".join(wrong) or f"{count} names with types")
