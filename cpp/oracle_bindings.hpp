#pragma once

#include <nanobind/nanobind.h>

namespace goct {

void bind_oracle(nanobind::module_& module);

}  // namespace goct
