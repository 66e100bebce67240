"""Texts of edges, some of which are missing."""

from __future__ import annotations

from typing import Any

import numpy

_COMPARISONS = (numpy.equal, numpy.not_equal, numpy.less, numpy.less_equal, numpy.greater, numpy.greater_equal)


class Texts(numpy.ndarray):
    """Objects of which missing texts are ``None``. What a comparison says of these is masked, as of missing numbers; only one with
    ``None`` itself tells which they are."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [one.view(numpy.ndarray) if isinstance(one, Texts) else one for one in inputs]
        if method != "__call__" or ufunc not in _COMPARISONS or any(one is None for one in inputs):
            return getattr(ufunc, method)(*plain, **options)
        missing: Any = False
        for at, (one, values) in enumerate(zip(inputs, plain)):
            if isinstance(one, Texts):
                own = numpy.equal(values, None).astype(bool)
                plain[at], missing = numpy.where(own, "", values), missing | own
        found = ufunc(*plain, **options)
        return numpy.ma.MaskedArray(found, missing) if numpy.any(missing) else found
