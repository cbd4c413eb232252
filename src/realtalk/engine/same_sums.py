"""Sums of one process in another, to the last bit.

    threads = blas_threads()          # in the driver                      → 2
    with summing_by(threads): …       # in a worker, which has one thread else

How a library for linear algebra adds up depends on how many threads it cuts the work for. A
worker has one; where its figures are to be the driver's, it cuts as the driver does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def blas_threads() -> int:
    """How many threads linear algebra has in this process."""
    import numpy as np  # whose library it is
    from threadpoolctl import threadpool_info

    assert np.__version__
    found = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
    return max(found, default=1)


@contextmanager
def summing_by(threads: int) -> Iterator[None]:
    """Linear algebra with so many threads, for as long as the block runs."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    assert np.__version__
    with threadpool_limits(limits=threads, user_api="blas"):
        yield
