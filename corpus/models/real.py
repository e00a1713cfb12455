"""Real models from public libraries, random weights, small where the architecture allows. Nothing is downloaded.

Clean: a fault reported here is a false alarm until shown otherwise. Needs torchvision, timm and transformers.
"""
import os

import torch
import torch.nn as nn
from torch.export import Dim

os.environ["HF_HUB_OFFLINE"] = "1"


def resnet18():
    """torchvision, dynamic batch and image size (a multiple of the network's stride of 32)."""
    from torchvision.models import resnet18

    batch, height, width = Dim("batch", min=1, max=16), Dim("height", min=1, max=4), Dim("width", min=1, max=4)
    return dict(
        mod=resnet18(weights=None, num_classes=10).eval(),
        args=(torch.randn(2, 3, 64, 96),),
        dynamic_shapes=({0: batch, 2: 32 * height, 3: 32 * width},),
    )


def mobilenet_v3_small():
    """torchvision, dynamic batch and image size."""
    from torchvision.models import mobilenet_v3_small

    batch, height, width = Dim("batch", min=1, max=16), Dim("height", min=1, max=4), Dim("width", min=1, max=4)
    return dict(
        mod=mobilenet_v3_small(weights=None, num_classes=10).eval(),
        args=(torch.randn(2, 3, 64, 96),),
        dynamic_shapes=({0: batch, 2: 32 * height, 3: 32 * width},),
    )


def vit_tiny():
    """timm, dynamic batch; the image size is fixed by the position embedding."""
    import timm

    model = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=64, num_classes=10)
    return dict(mod=model.eval(), args=(torch.randn(2, 3, 64, 64),), dynamic_shapes=({0: Dim("batch", min=1, max=16)},))


def bert():
    """transformers BERT, 2 layers of 64, dynamic batch and length, with a padding mask."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=200,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
    )

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertModel(config)

        def forward(self, input_ids, attention_mask):
            output = self.bert(input_ids=input_ids, attention_mask=attention_mask)
            return output.last_hidden_state, output.pooler_output

    batch, length = Dim("batch", min=1, max=16), Dim("length", min=1, max=64)
    return dict(
        mod=Model().eval(),
        args=(torch.randint(0, 200, (2, 11)), torch.ones(2, 11, dtype=torch.int64)),
        dynamic_shapes=({0: batch, 1: length}, {0: batch, 1: length}),
    )


def gpt2():
    """transformers GPT-2, 2 layers of 64, dynamic batch and length."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=200, n_positions=64, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.gpt2 = GPT2LMHeadModel(config)

        def forward(self, input_ids):
            return self.gpt2(input_ids=input_ids, use_cache=False).logits

    batch, length = Dim("batch", min=1, max=16), Dim("length", min=1, max=64)
    return dict(
        mod=Model().eval(),
        args=(torch.randint(0, 200, (2, 11)),),
        dynamic_shapes=({0: batch, 1: length},),
    )
