#pragma once

#include <nanobind/nanobind.h>

namespace goct {

void bind_proof(nanobind::module_& module);

}  // namespace goct
