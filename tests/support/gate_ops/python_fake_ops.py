"""Fakes of python_fake_ops.cpp, and operators that are Python altogether.

A line that ends in "PLANTED operator kind" is where the gate must place a fault of that kind; of the rest it must
report nothing. Operators that begin with right_ have none.
"""

import os

import torch
from torch.library import custom_op, register_fake


@register_fake("pyfake::by_int")
def by_int(x):
    return x.new_empty(int(x.shape[0]), 4)  # PLANTED by_int meta-specialises


@register_fake("pyfake::by_range")
def by_range(x):
    rows = [4 for _ in range(x.shape[0])]  # PLANTED by_range meta-specialises
    return x.new_empty(len(rows), 4)


@register_fake("pyfake::by_product")
def by_product(x):
    count = int(x.numel())  # PLANTED by_product meta-specialises
    return x.new_empty(count).view(x.shape)


@register_fake("pyfake::too_small")
def too_small(x):  # PLANTED too_small meta-wrong-size
    return x.new_empty(x.shape)


@register_fake("pyfake::rounded")
def rounded(x):  # PLANTED rounded meta-wrong-size
    return x.new_empty(x.shape[0] // 4, x.shape[1])


@register_fake("pyfake::strides")
def strides(x):  # PLANTED strides meta-wrong-stride
    return torch.empty_like(x)


@register_fake("pyfake::offset")
def offset(x):  # PLANTED offset meta-wrong-stride
    return x[:, :-1]


@register_fake("pyfake::dtype")
def dtype(x):  # PLANTED dtype meta-wrong-dtype
    return x.new_empty(x.shape)


@register_fake("pyfake::alias")
def alias(x):  # PLANTED alias meta-wrong-alias
    return torch.empty_strided(x.shape[::-1], x.stride()[::-1], dtype=x.dtype, device=x.device)


@register_fake("pyfake::count")
def count(x):  # PLANTED count meta-wrong-count
    return [x.new_empty(x.shape), x.new_empty(x.shape)]


@register_fake("pyfake::raises")
def raises(x):
    if x.shape[0] == 3:
        raise ValueError("three is too many")  # PLANTED raises meta-raises
    return x.new_empty(x.shape)


@register_fake("pyfake::guards")
def guards(x):  # PLANTED guards meta-wrong-size
    if x.shape[0] > 4000:
        return x.new_empty(x.shape[0] + 1, x.shape[1])
    return x.new_empty(x.shape)


@register_fake("pyfake::at_one")
def at_one(x):  # PLANTED at_one meta-wrong-size
    return x.new_empty(x.shape[1]) if x.shape[0] == 1 else x.new_empty(x.shape)


@register_fake("pyfake::unbacked_columns")
def unbacked_columns(x):  # PLANTED unbacked_columns meta-wrong-size
    return x.new_empty(torch.library.get_ctx().new_dynamic_size(), 3, dtype=torch.int64).t().contiguous().t()


@register_fake("pyfake::unbacked_range")
def unbacked_range(x):  # PLANTED unbacked_range meta-wrong-size
    rows = torch.library.get_ctx().new_dynamic_size(min=2)
    return torch.empty_strided((rows, 2), (1, rows), dtype=torch.int64, device=x.device)


@register_fake("pyfake::unbacked_dtype")
def unbacked_dtype(x):  # PLANTED unbacked_dtype meta-wrong-dtype
    rows = torch.library.get_ctx().new_dynamic_size()
    return torch.empty_strided((rows, 2), (1, rows), dtype=torch.int32, device=x.device)


@register_fake("pyfake::reads_item")
def reads_item(x):
    return x.new_empty(int(x.sum().item()), x.shape[1])  # PLANTED reads_item meta-reads-data


@register_fake("pyfake::reads_branch")
def reads_branch(x):
    if (x > 0).any():  # PLANTED reads_branch meta-reads-data
        return x.new_empty(x.shape)
    return x.new_empty(0)


@register_fake("pyfake::reads_memory")
def reads_memory(x):
    x.numpy()  # PLANTED reads_memory meta-reads-data
    return x.new_empty(x.shape)


@register_fake("pyfake::int_size")
def int_size(x, count):  # PLANTED int_size int-for-size
    return x.new_empty(count, x.shape[1])


@register_fake("pyfake::dies")
def dies(x):  # PLANTED dies meta-crashes
    os.abort()


@register_fake("pyfake_hang::hangs")
def hangs(x):  # PLANTED hangs meta-crashes
    while True:
        pass


@register_fake("pyfake::right_copy")
def right_copy(x):
    return x.new_empty(x.shape)


@register_fake("pyfake::right_view")
def right_view(x):
    return x.transpose(0, 1)


@register_fake("pyfake::right_tail")
def right_tail(x):
    return x[:, 1:]


@register_fake("pyfake::right_blocks")
def right_blocks(x):
    return x.new_empty((x.shape[0] + 3) // 4, x.shape[1])


@register_fake("pyfake::right_rows")
def right_rows(x, count):
    torch._check(count >= 0)
    return x.new_empty(count, x.shape[1])


@register_fake("pyfake::right_list")
def right_list(xs):
    return xs[0].new_empty(sum(x.shape[0] for x in xs), xs[0].shape[1])


@register_fake("pyfake::right_three")
def right_three(x):
    return [x.new_empty(x.shape) for _ in range(3)]


@register_fake("pyfake::right_positive")
def right_positive(x):
    rows = torch.library.get_ctx().new_dynamic_size()
    return torch.empty_strided((rows, 2), (1, rows), dtype=torch.int64, device=x.device)


@register_fake("pyfake::right_guard")
def right_guard(x):
    if x.shape[0] == 1:
        return torch.empty_like(x[0]).unsqueeze(0).contiguous()
    return torch.cat([x, x])[: x.shape[0]].clone(memory_format=torch.contiguous_format)


@register_fake("pyfake::right_cast")
def right_cast(x, dtype=None):
    return x.new_empty(x.shape, dtype=torch.float64 if dtype is None else dtype)


@register_fake("pyfake::right_in_place")
def right_in_place(x):
    return None


@register_fake("pyfake_unnamed::overruns")
def overruns(x):
    return x.new_empty(1)


@register_fake("pyfake_unnamed::right_bias")
def right_bias(x, bias=None):
    return x.new_empty(x.shape)


@custom_op("pycustom::too_small", mutates_args=())
def custom_too_small(x: torch.Tensor) -> torch.Tensor:
    return x.new_zeros(x.shape[0] + 1, x.shape[1])


@custom_too_small.register_fake
def custom_too_small_fake(x):  # PLANTED too_small meta-wrong-size
    return x.new_empty(x.shape)


@custom_op("pycustom::changes", mutates_args=())
def custom_changes(x: torch.Tensor) -> torch.Tensor:  # PLANTED changes hidden-mutation
    x.add_(1)
    return x.clone(memory_format=torch.contiguous_format)


@custom_changes.register_fake
def custom_changes_fake(x):
    return x.new_empty(x.shape)


@custom_op("pycustom::by_int", mutates_args=())
def custom_by_int(x: torch.Tensor, count: int) -> torch.Tensor:
    return x.new_zeros(count, x.shape[1])


@custom_by_int.register_fake
def custom_by_int_fake(x, count):
    return x.new_empty([0] * count + [1]).new_empty(count, x.shape[1])  # PLANTED by_int meta-specialises


@custom_op("pycustom::no_fake", mutates_args=())
def custom_no_fake(x: torch.Tensor) -> torch.Tensor:  # PLANTED no_fake meta-missing
    return x.clone()


@custom_op("pycustom::right_pad", mutates_args=())
def right_pad(x: torch.Tensor, block: int = 8) -> torch.Tensor:
    rows = (x.shape[0] + block - 1) // block * block
    return torch.cat([x, x.new_zeros(rows - x.shape[0], x.shape[1])]).contiguous()


@right_pad.register_fake
def right_pad_fake(x, block=8):
    return x.new_empty((x.shape[0] + block - 1) // block * block, x.shape[1])


@custom_op("pycustom::right_positive", mutates_args=())
def custom_right_positive(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    at = (x > 0).nonzero().contiguous()
    return at, x.new_zeros(2 * at.shape[0] + 1)


@custom_right_positive.register_fake
def custom_right_positive_fake(x):
    rows = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(rows, 2, dtype=torch.int64), x.new_empty(2 * rows + 1)


@custom_op("pycustom::right_in_place", mutates_args={"x"})
def custom_right_in_place(x: torch.Tensor, factor: float) -> None:
    x.mul_(factor)
