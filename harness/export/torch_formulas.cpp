#include "harness/export/torch_formulas.h"

#include <algorithm>
#include <iterator>

namespace assay {

namespace {

struct TorchFormula {
  std::string_view op, text;
};

constexpr TorchFormula formulas[] = {
    {"relu", "y = torch.relu(x)"},
    {"silu", "y = x * torch.sigmoid(x)"},
    {"gelu_erf", "y = F.gelu(x)"},
    {"gelu_tanh", "y = x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))"},
    {"sigmoid", "y = torch.sigmoid(x)"},
    {"tanh", "y = torch.tanh(x)"},
    {"add", "y = a + b"},
    {"swiglu", "y = gate * torch.sigmoid(gate) * up"},
    {"sum", "y = x.sum(1)"},
    {"mean", "y = x.mean(1)"},
    {"max", "y = x.amax(1)"},
    {"logsumexp", "y = torch.logsumexp(x, 1)"},
    {"variance", "y = x.var(1, unbiased=False)"},
    {"argmax", "largest = (x == x.amax(1, keepdim=True)) | x.isnan()\n"
               "y = (largest.long() * torch.arange(cols, 0, -1)).argmax(1)  # the first of equals"},
    {"cumsum", "y = x.cumsum(1)"},
    {"softmax", "y = torch.softmax(x, 1)"},
    {"log_softmax", "y = torch.log_softmax(x, 1)"},
    {"masked_softmax", "p = torch.softmax(x.masked_fill(mask == 0, -math.inf), 1)\n"
                       "y = torch.where(mask != 0, p, torch.zeros_like(p))"},
    {"cross_entropy", "loss = F.cross_entropy(logits, target, reduction='none', ignore_index=-100)"},
    {"rmsnorm", "rstd = (x.pow(2).mean(1) + eps).rsqrt()\ny = x * rstd[:, None] * weight"},
    {"offset_rmsnorm", "rstd = (x.pow(2).mean(1) + eps).rsqrt()\ny = x * rstd[:, None] * (1 + weight)"},
    {"layernorm", "mean = x.mean(1)\nrstd = (x.var(1, unbiased=False) + eps).rsqrt()\n"
                  "y = (x - mean[:, None]) * rstd[:, None] * weight + bias"},
    {"l2_normalize", "y = x / x.pow(2).sum(1, keepdim=True).sqrt().clamp_min(eps)"},
    {"rope", "half = head_dim // 2\nrows = cache[positions]\n"
             "cos, sin = rows[:, None, :head_dim], rows[:, None, head_dim:]\n"
             "turned = lambda v: torch.cat((-v[..., half:], v[..., :half]), -1)\n"
             "q_out = q * cos + turned(q) * sin\nk_out = k * cos + turned(k) * sin"},
    {"gemm", "c = a @ b"},
    {"gemm_nt", "c = a @ b.t()"},
    {"attention", "scores = q @ k.transpose(-1, -2) / math.sqrt(head_dim)\n"
                  "seen = torch.ones(q_len, kv_len, dtype=torch.bool)\n"
                  "if causal:\n"
                  "    seen = torch.tril(seen, diagonal=kv_len - q_len)\n"
                  "p = torch.softmax(scores.masked_fill(~seen, -math.inf), -1)\n"
                  "out = torch.where(seen, p, torch.zeros_like(p)) @ v"},
    {"gather_rows", "y = table[index]"},
    {"scatter_add_rows", "y = torch.zeros(table_rows, cols, dtype=x.dtype).index_add(0, index, x)"},
    {"transpose", "y = x.t().contiguous()"},
    {"causal_conv1d", "y = F.conv1d(F.pad(x, (width - 1, 0)), weight[:, None, :], bias, groups=channels)"},
    {"quantize_rows_i8",
     "largest = x.abs().amax(1)\nscale = largest / 127\n"
     "q = torch.where(largest[:, None] > 0, 127 * x / largest[:, None], torch.zeros_like(x)).round()"},
    {"dequantize_rows_i8", "y = q * scale[:, None]"},
    {"cast_f8_e4m3", "y = x.clamp(-448, 448)"},
};

} // namespace

std::string_view torch_formula(std::string_view op) {
  const auto* const found = std::ranges::find(formulas, op, &TorchFormula::op);
  return found == std::end(formulas) ? std::string_view() : found->text;
}

} // namespace assay
