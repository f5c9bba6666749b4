"""[I/O] Runs pure functions over many items, as `workers` does, on the workers of a Dask cluster.

    items ─► batches ─► pickled ─► scheduler ─► a worker that has the same memosite ─► results, in the items' order
              bounded: a few per worker, and `MOST_BYTES`

A batch is self-contained and stays with the scheduler until it is done. So when a worker is lost, its batches go to
others, and results are the same. Loading a pickle can run code: all machines of a cluster have to trust each other.
"""

import asyncio
import logging
import pickle
import socket
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from memosite.facts.errors import ClusterError, ConfigError
from memosite.facts.values import Value
from memosite.run.workers import WAITING, Item, Result, in_batches
from memosite.store.cache import portable_digest

if TYPE_CHECKING:
    from distributed import Client, Future

MOST_BYTES: Final = 128 * 2**20
"""Bytes of batches under way, which the scheduler holds in memory; one batch alone may have more."""

PATIENCE: Final = 60.0
"""Seconds to wait for a worker where there is none: one that was started anew is back in a few."""

_CONNECT: Final = 10.0  # seconds
_LOOK: Final = 2.0  # seconds after which it is asked whether there is still a worker
_FETCH: Final = 600.0  # seconds for one result to come from its worker
_LIBRARIES: Final = ("cloudpickle", "dask", "distributed", "msgpack")


class Cluster(Value):
    """The workers of the Dask scheduler at an address. `patience` is as `PATIENCE`."""

    address: str
    patience: float = PATIENCE

    def run(
        self, function: Callable[[Item], Result], items: Iterable[Item], *, weight: Callable[[Item], int] = lambda _: 1
    ) -> Generator[Result, None, None]:
        """Apply a pure function to each item; the results come in the order of the items.

        If all items together are light it is applied here, without the cluster. Function, items and results are
        pickled. Raises what the function raises, and `ClusterError` if there is no scheduler or, for as long as
        `patience`, no worker, or if one of them has another version of memosite than this machine.
        """
        batches, is_light = in_batches(items, weight)
        if is_light:
            yield from map(function, chain.from_iterable(batches))
            return
        with _quiet(), _connected(self.address) as client:
            self._check(client)
            under_way: deque[Future[list[Result]]] = deque()
            sizes: deque[int] = deque()
            for batch in batches:
                work = pickle.dumps((function, batch), protocol=pickle.HIGHEST_PROTOCOL)
                while under_way and (sum(sizes) + len(work) > MOST_BYTES or len(under_way) >= self._most(client)):
                    sizes.popleft()
                    yield from self._result(client, under_way.popleft())
                under_way.append(self._submit(client, work))
                sizes.append(len(work))
            while under_way:
                yield from self._result(client, under_way.popleft())

    def _check(self, client: "Client") -> None:
        """Raise `ClusterError` unless the scheduler and all workers have the same versions as this machine."""
        with self._faults():
            try:
                client.wait_for_workers(1, timeout=self.patience)
            except TimeoutError:
                raise self._lonely() from None
            try:
                found: dict[str, object] = {"scheduler": client.run_on_scheduler(_program)}
            except Exception as error:  # whatever keeps it from running memosite
                found = {"scheduler": error}
            found |= {f"worker {name}": one for name, one in client.run(_program, on_error="return").items()}
        for name in sorted(found):
            if found[name] != _program():
                raise ClusterError(f"build --cluster {self.address}: the {name} {_refusal(found[name])}")

    def _most(self, client: "Client") -> int:
        with self._faults():
            return WAITING * len(client.nthreads())

    def _submit(self, client: "Client", work: bytes) -> "Future[list[Result]]":
        try:
            with _without_warnings():  # of large graphs: what is scattered instead is lost with its worker
                future: Future[list[Any]] = client.submit(_apply, _program(), work, pure=False)
        except Exception as error:  # a client that is closed, since it lost its scheduler, has no name for that
            raise self._lost() from error
        return future

    def _result(self, client: "Client", future: "Future[list[Result]]") -> list[Result]:
        from distributed import wait  # noqa: PLC0415 - as everywhere here: only who builds on a cluster has it

        last_seen = time.monotonic()
        with self._faults():
            while True:
                try:
                    with client.as_current():
                        wait(future, timeout=_LOOK)
                    return future.result(timeout=_FETCH)
                except TimeoutError:
                    if client.nthreads():
                        last_seen = time.monotonic()
                    elif time.monotonic() - last_seen > self.patience:
                        raise self._lonely() from None

    def _lonely(self) -> ClusterError:
        return ClusterError(
            f"build --cluster {self.address}: found no worker for {self.patience:g} seconds, expected at least one; "
            f"start it with: dask worker {self.address}"
        )

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"build --cluster {self.address}: the scheduler does not answer any more; start it again, "
            "and run the command again"
        )

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn errors of the cluster, as opposed to those of the function, into one line."""
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415 - as above

        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"build --cluster {self.address}: {error.allowed_failures + 1} workers ended at the same pages, the "
                f"last of them {error.last_worker.address}; give them more memory, or build without --cluster"
            ) from error
        except ImportError as error:  # a worker that came later
            raise ClusterError(f"build --cluster {self.address}: a worker {_refusal(error)}") from error
        except (CancelledError, OSError) as error:
            raise self._lost() from error


def cluster_at(address: str) -> Cluster:
    """The cluster of this scheduler. Raises `ConfigError` if there cannot be one, `ClusterError` without an answer."""
    if find_spec("distributed") is None:
        raise ConfigError("build --cluster: needs Dask distributed: pip install 'memosite[cluster]'")
    try:
        parts = urlsplit(address)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in ("tcp", "tls") or not host or not port:
        raise ConfigError(
            f"build --cluster: found {address!r}, expected the address of a Dask scheduler as it prints it, "
            "tcp://HOST:PORT or tls://HOST:PORT"
        )
    try:
        socket.create_connection((host, port), timeout=_CONNECT).close()
    except OSError as error:
        raise _nobody(address, error) from error
    return Cluster(address=address)


def _nobody(address: str, error: Exception) -> ClusterError:
    return ClusterError(
        f"build --cluster {address}: found no Dask scheduler there ({_why(error)}); start one with `dask scheduler`, "
        "or name the address that it printed"
    )


def _why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer in {_CONNECT:g} seconds"
    if error.__cause__ is not None:
        return _why(error.__cause__)
    why = (error.strerror if isinstance(error, OSError) else None) or " ".join(str(error).split())
    return why or "it answers in another language"


def _refusal(found: object) -> str:
    if isinstance(found, Exception):
        what = f"cannot run memosite ({found if type(found) is Exception else repr(found)})"
    else:
        what = "has another memosite, Python or library than this machine"
    return f"{what}; install the same there, memosite[cluster] with all it needs, and start it again"


@contextmanager
def _connected(address: str) -> Iterator["Client"]:
    """A client; when it leaves, for whatever reason, the scheduler drops its batches."""
    from distributed import Client  # noqa: PLC0415 - as above

    try:
        kind = asyncio.run(asyncio.wait_for(_kind_of_server(address), _CONNECT))
        if kind != "Scheduler":
            raise TypeError(f"a {kind.lower()} of Dask")
        with _without_warnings():  # of other versions: we look ourselves
            client = Client(address, timeout=_CONNECT, set_as_default=False, direct_to_workers=False, name="memosite")
    except Exception as error:  # any answer of another program that listens there
        raise _nobody(address, error) from error
    try:
        yield client
    finally:
        with suppress(OSError):  # also if it is closed already, since its scheduler is gone
            client.close(timeout=_CONNECT)


async def _kind_of_server(address: str) -> str:
    """The kind of server at the address: a Dask client fails obscurely at any other, as at the dashboard's port."""
    from distributed.core import rpc  # noqa: PLC0415 - as above
    from distributed.security import Security  # noqa: PLC0415

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=_CONNECT, connection_args=arguments) as server:
        return str((await server.identity())["type"])


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log: errors are raised anyway."""
    import distributed  # noqa: F401, PLC0415 - it sets up its logging when it is imported

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in ("distributed", "tornado")]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    # For good: a future that Dask gave up is reported when it is collected, which may be after this.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# What follows runs on a worker.

_ONE_AT_A_TIME: Final = threading.Lock()
"""A worker may have several threads, and what it applies need not know of threads."""


def _program() -> str:
    return portable_digest(*_LIBRARIES)


def _apply(program: str, work: bytes) -> list[Any]:
    if program != _program():
        from distributed import get_worker  # noqa: PLC0415 - as above

        raise ClusterError(f"build --cluster: the worker {get_worker().address} {_refusal(None)}")
    with _ONE_AT_A_TIME:
        function, batch = pickle.loads(work)  # noqa: S301 - a worker runs what its scheduler sends, that is what it is for
        return [function(item) for item in batch]
