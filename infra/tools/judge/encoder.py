"""multilingual-e5-small in PyTorch as a cross-encoder of two statements. Only training needs PyTorch.

The state of `<s>` and the mean state go through one hidden layer to four classes (stands, replaced, ended, partly
changed). After the first `EARLY_LAYERS` the same is asked once, so that most pairs need no more than those; a message
alone, with nothing older, is asked there whether it changes anything. The word table is that of the embedder and is
frozen, so that both can share it.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from infra.tools.judge.bundle import WORDS
from recollect.adapters.embedders.building import weights
from recollect.adapters.embedders.building.trained_layers import Tensors
from recollect.adapters.embedders.building.weights import FourBitTable

SEGMENTS, CLASSES = 2, 4
EARLY_WIDTH = 128
_EPSILON = 1e-12
PARTS = {"out": "ao", "up": "fi", "down": "fo", "first": "aln", "second": "oln"}
"""A layer's parts here, and in the pinned file."""


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width, eps=_EPSILON), nn.LayerNorm(width, eps=_EPSILON)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, weights.HEADS, width // weights.HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.first(x + self.drop(self.out(mixed.transpose(1, 2).reshape(batch, length, width))))
        return self.second(x + self.drop(self.down(functional.gelu(self.up(x)))))


class PairEncoder(nn.Module):
    """Ids and segments (batch, length) in; logits (batch, 4) out, and two of the early layers (batch).

    Those are of changed or not, and of whether a message alone states something that is worth keeping for months.
    """

    def __init__(self, words: Tensor, dropout: float) -> None:
        super().__init__()
        width = weights.DIMENSION
        self.words: Tensor
        self.register_buffer("words", words, persistent=False)
        self.places, self.segments = nn.Embedding(512, width), nn.Embedding(SEGMENTS, width)
        self.norm, self.drop = nn.LayerNorm(width, eps=_EPSILON), nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(width, dropout) for _ in range(weights.LAYERS))
        self.hidden, self.classes = nn.Linear(2 * width, width), nn.Linear(width, CLASSES)
        self.early_hidden, self.early = nn.Linear(2 * width, EARLY_WIDTH), nn.Linear(EARLY_WIDTH, 1)
        self.lasting = nn.Linear(2 * width, 1)

    def forward(self, ids: Tensor, segments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        seen, early = self.seen(ids, segments)
        lasting: Tensor = self.lasting(self.drop(early))[:, 0]
        return self.classes(self.read(seen)).float(), self.read_early(early).float(), lasting.float()

    def read(self, seen: Tensor) -> Tensor:
        """What the classes are read from, (batch, width)."""
        return functional.gelu(self.hidden(self.drop(seen)))

    def read_early(self, seen: Tensor) -> Tensor:
        """The logit of changed or not that the early layers give, (batch)."""
        logits: Tensor = self.early(functional.gelu(self.early_hidden(self.drop(seen))))[:, 0]
        return logits

    def seen(self, ids: Tensor, segments: Tensor) -> tuple[Tensor, Tensor]:
        """The state of `<s>` beside the mean state, (batch, 2 width): of all layers, and of the early ones."""
        shown = segments >= 0
        x = self.early_states(ids, segments)
        early = _pooled(x, shown)
        for layer in self.layers[weights.EARLY_LAYERS :]:
            x = layer(x, shown[:, None, None, :])
        return _pooled(x, shown), early

    def early_states(self, ids: Tensor, segments: Tensor) -> Tensor:
        """The state of each piece after the early layers, (batch, length, width)."""
        places = self.places(torch.arange(ids.shape[1], device=ids.device))
        x: Tensor = self.drop(self.norm(self.words[ids].float() + places + self.segments(segments.clamp(min=0))))
        for layer in self.layers[: weights.EARLY_LAYERS]:
            x = layer(x, (segments >= 0)[:, None, None, :])
        return x

    def early_parameters(self) -> list[nn.Parameter]:
        """Those up to the first look, and its heads."""
        early = (self.places, self.segments, self.norm, *self.layers[: weights.EARLY_LAYERS])
        return [one for part in (*early, self.early_hidden, self.early, self.lasting) for one in part.parameters()]

    def new_parameters(self) -> list[nn.Parameter]:
        """Those that the embedder does not have."""
        new = (self.segments, self.hidden, self.classes, self.early_hidden, self.early, self.lasting)
        return [one for part in new for one in part.parameters()]


def _pooled(x: Tensor, shown: Tensor) -> Tensor:
    counted = shown[:, :, None].to(x.dtype)
    return torch.cat([x[:, 0], (x * counted).sum(1) / counted.sum(1)], 1)


def started(tensors: Tensors, seed: int = 1, dropout: float = 0.1) -> PairEncoder:
    """With the embedder's weights; segments and heads are new, and alike for a seed: so weights can be averaged."""
    torch.manual_seed(seed)
    encoder = PairEncoder(_tensor(tensors, WORDS).to(torch.bfloat16), dropout)
    nn.init.normal_(encoder.segments.weight, std=0.02)
    encoder.load_state_dict({**encoder.state_dict(), **_of_the_embedder(tensors)})
    return encoder


def _of_the_embedder(tensors: Tensors) -> dict[str, Tensor]:
    width = weights.DIMENSION
    places, kinds = (_tensor(tensors, f"emb.{name}").reshape(-1, width) for name in ("pos", "type"))
    found = {"places.weight": places + kinds[0]}
    for ours, theirs in (("weight", "w"), ("bias", "b")):
        found[f"norm.{ours}"] = _tensor(tensors, f"emb.ln.{theirs}")
        for number in range(weights.LAYERS):
            joined = [_tensor(tensors, f"l{number}.{role}.{theirs}") for role in "qkv"]
            found[f"layers.{number}.qkv.{ours}"] = torch.cat(joined)
            for part, name in PARTS.items():
                found[f"layers.{number}.{part}.{ours}"] = _tensor(tensors, f"l{number}.{name}.{theirs}")
    return found


def _tensor(tensors: Tensors, name: str) -> Tensor:
    tensor = tensors[name]
    return torch.from_numpy(tensor.floats() if isinstance(tensor, FourBitTable) else tensor.copy())
