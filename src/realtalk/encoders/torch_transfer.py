"""Numbers to a device and back: one transfer each way, from and to memory that cannot be paged.

parcel = Parcel(device, clock)
numbers = parcel.take(packed)            # int32 on the device; the host does not wait
sent = parcel.bring(outputs)             # on their way back; the host does not wait
sent.wait()                              → the outputs as a numpy array
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from realtalk.encoders.flat_texts import Small
from realtalk.encoders.stages import StageClock

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Sent:
    """Outputs that are on their way to the host."""

    values: Any
    arrived: Any  # an event of the device; None where there is no other memory
    source: Any  # what the device still reads must not be given away

    def wait(self) -> Any:
        if self.arrived is not None:
            self.arrived.synchronize()
        return self.values.numpy()


class Parcel:
    """One part of the work: what goes to the device, and what comes back."""

    def __init__(self, device: torch.device, clock: StageClock) -> None:
        self._device = device
        self._clock = clock
        self._source: Any = None

    def take(self, packed: Small) -> Any:
        import torch

        given = torch.from_numpy(packed)
        if self._device.type == "cpu":
            return given
        with self._clock.host("pinning"):
            self._source = torch.empty(given.shape, dtype=given.dtype, pin_memory=True)
            self._source.copy_(given)
        with self._clock.device("transfer to"):
            return self._source.to(self._device, non_blocking=True)

    def bring(self, outputs: Any) -> Sent:
        import torch

        if self._device.type == "cpu":
            return Sent(outputs, None, None)
        with self._clock.device("transfer back"):
            values = torch.empty(outputs.shape, dtype=outputs.dtype, pin_memory=True)
            values.copy_(outputs, non_blocking=True)
        arrived = torch.cuda.Event()
        arrived.record()
        return Sent(values, arrived, self._source)
