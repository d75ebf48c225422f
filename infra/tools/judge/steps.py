"""Steps of training: plain ones, or CUDA graphs, one a length, since a small model spends its time on starting kernels.

A step is called with the rows of a batch and the share of the rates, and gives the loss, a tensor on the device.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from infra.tools.judge.encoder import PairEncoder
from infra.tools.judge.rows import Rows, rounded

_WARM_UP = 3
Loss = Callable[[PairEncoder, Tensor, Tensor, Tensor], Tensor]


class PlainSteps:
    """On any device."""

    def __init__(self, model: PairEncoder, optimizer: torch.optim.Optimizer, rows: Rows, loss_of: Loss) -> None:
        self._model, self._optimizer, self._rows, self._loss_of = model, optimizer, rows, loss_of
        self._rates = [float(group["lr"]) for group in optimizer.param_groups]

    def __call__(self, chosen: Sequence[int], share: float) -> Tensor:
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * share
        places = torch.tensor(chosen).to(self._rows.device)
        loss = self._loss_of(self._model, *self._rows.batch(places, int(self._rows.lengths[list(chosen)].max())))
        return _stepped(self._model, self._optimizer, loss)


class GraphedSteps:
    """On a GPU alone."""

    def __init__(self, model: PairEncoder, optimizer: torch.optim.Optimizer, rows: Rows, loss_of: Loss, batch: int):
        self._model, self._optimizer, self._rows, self._loss_of = model, optimizer, rows, loss_of
        self._chosen = torch.zeros(batch, dtype=torch.long, device=rows.device)
        self._rates = [float(group["lr"]) for group in optimizer.param_groups]
        for group in optimizer.param_groups:
            group["lr"] = torch.zeros((), device=rows.device)
        self._graphs: dict[int, tuple[torch.cuda.CUDAGraph, Tensor]] = {}
        for length in sorted({rounded(one) for one in rows.lengths.unique().tolist()}, reverse=True):
            self._graphs[length] = self._captured(length)
        self._forget_warm_up()

    def __call__(self, chosen: Sequence[int], share: float) -> Tensor:
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"].fill_(rate * share)
        self._chosen.copy_(torch.tensor(chosen))
        graph, loss = self._graphs[rounded(int(self._rows.lengths[list(chosen)].max()))]
        graph.replay()
        return loss.clone()

    def _captured(self, length: int) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UP):
                self._step(length)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = self._step(length)
        return graph, loss

    def _step(self, length: int) -> Tensor:
        return _stepped(
            self._model, self._optimizer, self._loss_of(self._model, *self._rows.batch(self._chosen, length))
        )

    def _forget_warm_up(self) -> None:
        """At a rate of nothing the weights did not move, but the optimizer counted and averaged."""
        for state in self._optimizer.state.values():
            for tensor in state.values():
                tensor.zero_()


def _stepped(model: PairEncoder, optimizer: torch.optim.Optimizer, loss: Tensor) -> Tensor:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()
