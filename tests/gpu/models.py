"""Test models on CUDA: recipes of corpus/models with module and inputs moved there."""
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "corpus" / "models"))
import clean
import example


def on_cuda(recipe):
    recipe["mod"] = recipe["mod"].cuda()
    recipe["args"] = tuple(a.cuda() if isinstance(a, torch.Tensor) else a for a in recipe["args"])
    return recipe


def embedding_mlp():
    """Has gaps: nothing checks that both inputs agree in size."""
    return on_cuda(example.embedding_mlp())


def thin_matrix_product():
    """Clean: a library's matrix product beside generated kernels."""
    return on_cuda(clean.c189401_thin_matrix_product())


def pooling_of_small_batches():
    """Clean: windows and reductions."""
    return on_cuda(clean.c188218_pooling_of_small_batches())
