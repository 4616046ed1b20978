// y = x / (1 + exp(-x)), forward and its gradient, one thread an element.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @silu_forward(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
      %zero = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %i = gpu.global_id x
      %n = memref.dim %x, %zero : memref<?xf32>
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %v = memref.load %x[%i] : memref<?xf32>
        %negated = arith.negf %v : f32
        %power = math.exp %negated : f32
        %below = arith.addf %power, %one : f32
        %result = arith.divf %v, %below : f32
        memref.store %result, %y[%i] : memref<?xf32>
      }
      gpu.return
    }

    // grad_x = grad_y * s * (1 + x * (1 - s)), with s = 1 / (1 + exp(-x))
    gpu.func @silu_backward(%grad_y: memref<?xf32>, %x: memref<?xf32>, %grad_x: memref<?xf32>) kernel {
      %zero = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %i = gpu.global_id x
      %n = memref.dim %x, %zero : memref<?xf32>
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %v = memref.load %x[%i] : memref<?xf32>
        %g = memref.load %grad_y[%i] : memref<?xf32>
        %negated = arith.negf %v : f32
        %power = math.exp %negated : f32
        %below = arith.addf %power, %one : f32
        %s = arith.divf %one, %below : f32
        %rest = arith.subf %one, %s : f32
        %slope = math.fma %v, %rest, %one : f32
        %scaled = arith.mulf %s, %slope : f32
        %result = arith.mulf %g, %scaled : f32
        memref.store %result, %grad_x[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
}
