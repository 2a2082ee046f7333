// Lists, scans, tables of matrices, nodes(t), values of the model, several result and argument types, in one program.
module @documents {
  kernel.data @Doc {
    kernel.ctor "Doc" ["words", "flag", "links", "friends"] [!dyn.list<!dyn.node<@Word>>, i1, !dyn.list<!dyn.list<i32>>, !dyn.list<!dyn.node<@Doc>>] in [0, 1, 2, 3]
  }
  kernel.data @Word {
    kernel.ctor "Word" ["class", "vec"] [!dyn.index<3>, tensor<4xf32>] in [0, 1]
  }
  kernel.param @A : tensor<3x4x4xf32> = #dyn.init<glorot, 0.0 : f64, 0.0 : f64>
  kernel.param @fwd.b : tensor<4xf32> = #dyn.init<uniform, -1.0 : f64, 1.0 : f64>
  kernel.param @scale : tensor<f32>

  // scan(w in words, s = 2 b) tanh(s + A[class] @ vec)
  kernel.program @states ["d"] [!dyn.node<@Doc>] -> !dyn.list<tensor<4xf32>> {
    kernel.index_set model @model []
    kernel.index_set inputs @input ["input", "first"]
    kernel.index_set steps @step in @input ["parent", "prev", "node", "class", "step"] by_time_step
    kernel.index_set states @state []
    kernel.buffer @start over @model : tensor<4xf32>
    kernel.buffer @state.s over @state : tensor<4xf32>
    kernel.buffer @out over @step : tensor<4xf32>
    kernel.field @Doc.words.begin = @Doc "words" 0 begin : i32
    kernel.field @Doc.words.end = @Doc "words" 0 end : i32
    kernel.field @Doc.words = @Doc "words" 0 items : i32
    kernel.field @Word.class = @Word "class" 0 value : i32
    kernel.field @Word.vec = @Word "vec" 1 value : tensor<4xf32>
    kernel.argument @d = "d" 0 value : i32
    kernel.weights @A = [@A] at [0, 0] : 4 by 4 tables 3
    kernel.func roots @roots(%input: i32) {
      kernel.require @d[%input]
    }
    kernel.func index @index(%row: i32, %input: i32) over @input {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %d = kernel.load @d[%input] : i32 loc("d")
      kernel.require @Doc.words.begin[%d]
      %begin = kernel.load @Doc.words.begin[%d] : i32 loc("begin")
      %end = kernel.load @Doc.words.end[%d] : i32
      %length = arith.subi %end, %begin : i32 loc("length")
      %states = arith.addi %length, %one : i32
      %first = kernel.reserve @state %states
      kernel.set @input "first"[%row], %first
      kernel.for %zero to %length {
      ^bb0(%k: i32 loc("k")):
        %at = arith.addi %begin, %k : i32
        %w = kernel.load @Doc.words[%at] : i32 loc("w")
        kernel.require @Word.class[%w]
        kernel.require @Word.vec[%w]
        %prev = arith.addi %first, %k : i32
        %class = kernel.load @Word.class[%w] : i32
        kernel.push @step(%row, %prev, %w, %class, %k)
        kernel.yield
      }
    }
    kernel.func stage @make_start(%begin: i32, %end: i32) over @model attributes {doc = ["2 b"]} {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      %two = arith.constant 2.0 : f32
      kernel.for vector %zero to %four {
      ^bb0(%j: i32):
        %b = kernel.load @fwd.b[%j] : f32
        %x = arith.mulf %two, %b : f32
        kernel.store %x, @start[%zero, %j] : f32
        kernel.yield
      }
    }
    kernel.func stage @init(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      kernel.for %begin to %end {
      ^bb0(%row: i32 loc("row")):
        %first = kernel.load @input "first"[%row] : i32
        kernel.for vector %zero to %four {
        ^bb0(%j: i32):
          %x = kernel.load @start[%zero, %j] : f32
          kernel.store %x, @state.s[%first, %j] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.func stage @next(%begin: i32, %end: i32) over @step attributes {doc = ["tanh(s + A[w.class] @ w.vec)"]} {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %four = arith.constant 4 : i32
      kernel.blocks %begin to %end by 8 {
      ^bb0(%first: i32, %count: i32):
        %rows = kernel.local : !kernel.local<8xi32> loc("rows")
        %nodes = kernel.local : !kernel.local<8xi32> loc("nodes")
        %classes = kernel.local : !kernel.local<8xi32> loc("classes")
        kernel.for %zero to %count {
        ^bb0(%i: i32 loc("i")):
          %at = arith.addi %first, %i : i32
          %row = kernel.order @step[%at]
          kernel.write %row, %rows[%i] : i32, !kernel.local<8xi32>
          %node = kernel.load @step "node"[%row] : i32
          kernel.write %node, %nodes[%i] : i32, !kernel.local<8xi32>
          %class = kernel.load @step "class"[%row] : i32
          kernel.write %class, %classes[%i] : i32, !kernel.local<8xi32>
          kernel.yield
        }
        %y = kernel.local : !kernel.local<8x4xf32> loc("y")
        %copy = kernel.local : !kernel.local<32xf32>
        %x = kernel.rows @Word.vec via %nodes : !kernel.local<8xi32> copy %copy : !kernel.local<32xf32> at 0
        kernel.product %count rows(%x) [4] with @A table %classes : !kernel.local<8xi32> into %y : !kernel.local<8x4xf32>
        kernel.for %zero to %count {
        ^bb0(%i: i32 loc("i")):
          %row = kernel.read %rows[%i] : !kernel.local<8xi32> -> i32 loc("row")
          %prev = kernel.load @step "prev"[%row] : i32
          %next = arith.addi %prev, %one : i32 loc("next")
          kernel.for vector %zero to %four {
          ^bb0(%j: i32):
            %s = kernel.load @state.s[%prev, %j] : f32
            %p = kernel.read %y[%i, %j] : !kernel.local<8x4xf32> -> f32
            %sum = arith.addf %s, %p : f32
            %t = math.tanh %sum : f32 loc("t")
            kernel.store %t, @state.s[%next, %j] : f32
            kernel.store %t, @out[%row, %j] : f32
            kernel.yield
          }
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.schedule {
      kernel.start @roots
      kernel.index @index
      kernel.time_steps @step
    }
    kernel.run {
      kernel.launch @make_start
      kernel.launch @init
      kernel.steps @step {
        kernel.launch @next
      }
    }
    kernel.output 0 = @out depth 1
  }

  // The number of documents reached, whether the flag is set, scale * state.h, the sum of all links, and x or -x.
  kernel.program @facts ["d", "state", "ids"] [!dyn.node<@Doc>, !dyn.record<"State", ["h", "n"], [tensor<2xf32>, i32]>, !dyn.list<!dyn.index<10>>] -> tuple<i32, i1, tensor<2xf32>, i32> {
    kernel.index_set inputs @input ["input", "node", "length", "total"]
    kernel.index_set states @reached ["node"]
    kernel.buffer @count over @input : i32 storage 0
    kernel.buffer @flag over @input : i1
    kernel.buffer @scaled over @input : tensor<2xf32> storage 1
    kernel.buffer @other over @input : tensor<2xf32> storage 1
    kernel.buffer @links over @input : i32
    kernel.field @Doc.flag = @Doc "flag" 1 value : i1
    kernel.field @Doc.links.begin = @Doc "links" 2 begin : i32
    kernel.field @Doc.links.end = @Doc "links" 2 end : i32
    kernel.field @Doc.links.inner.begin = @Doc "links" 2 begin : i32 {level = 1 : i32}
    kernel.field @Doc.links.inner.end = @Doc "links" 2 end : i32 {level = 1 : i32}
    kernel.field @Doc.links = @Doc "links" 2 items : i32
    kernel.argument @d = "d" 0 value : i32
    kernel.argument @h = "state.h" 1 value : tensor<2xf32>
    kernel.argument @n = "state.n" 2 value : i32
    kernel.argument @ids.begin = "ids" 3 begin : i32
    kernel.argument @ids.end = "ids" 3 end : i32
    kernel.func roots @roots(%input: i32) {
      kernel.require @d[%input]
      kernel.require @h[%input]
      kernel.require @ids.begin[%input]
    }
    kernel.func index @index(%row: i32, %input: i32) over @input {
      %zero = arith.constant 0 : i32
      %d = kernel.load @d[%input] : i32 loc("d")
      %first, %length = kernel.collect_nodes @reached @Doc(%d)
      kernel.set @input "node"[%row], %d
      kernel.set @input "length"[%row], %length
      kernel.require @Doc.flag[%d]
      kernel.require @Doc.links.begin[%d]
      %begin = kernel.load @Doc.links.begin[%d] : i32
      %end = kernel.load @Doc.links.end[%d] : i32
      %some = arith.cmpi sgt, %end, %begin : i32
      kernel.check empty %some, "max" at "documents.dyn:9:3" ()
      %total = kernel.for %begin to %end carry(%zero) : (i32) -> (i32) {
      ^bb0(%l: i32 loc("l"), %so_far: i32):
        %b = kernel.load @Doc.links.inner.begin[%l] : i32
        %e = kernel.load @Doc.links.inner.end[%l] : i32
        %inner = kernel.for %b to %e carry(%so_far) : (i32) -> (i32) {
        ^bb0(%k: i32 loc("k"), %sum: i32):
          %x = kernel.load @Doc.links[%k] : i32
          %next = kernel.int add %sum, %x at "documents.dyn:9:5"
          kernel.yield %next : i32
        }
        kernel.yield %inner : i32
      } loc("total")
      %ib = kernel.load @ids.begin[%input] : i32
      %ie = kernel.load @ids.end[%input] : i32
      %ids = arith.subi %ie, %ib : i32
      %all = kernel.int add %total, %ids at "documents.dyn:9:7"
      kernel.set @input "total"[%row], %all
    }
    kernel.func stage @compute(%begin: i32, %end: i32) over @input {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      kernel.for %begin to %end {
      ^bb0(%row: i32 loc("row")):
        %length = kernel.load @input "length"[%row] : i32
        kernel.store %length, @count[%row] : i32
        %node = kernel.load @input "node"[%row] : i32
        %flag = kernel.load @Doc.flag[%node] : i1 loc("flag")
        kernel.store %flag, @flag[%row] : i1
        %total = kernel.load @input "total"[%row] : i32
        kernel.store %total, @links[%row] : i32
        %input = kernel.load @input "input"[%row] : i32 loc("number")
        %n = kernel.load @n[%input] : i32
        %factor = arith.sitofp %n : i32 to f32
        %scale = kernel.load @scale[] : f32
        %by = kernel.if %flag -> (f32) {
          kernel.yield %scale : f32
        } else {
          %minus = arith.negf %scale : f32
          kernel.yield %minus : f32
        }
        kernel.for vector %zero to %two {
        ^bb0(%j: i32):
          %x = kernel.load @h[%input, %j] : f32
          %y = arith.mulf %x, %by : f32
          %z = arith.mulf %y, %factor : f32
          kernel.store %z, @other[%row, %j] : f32
          kernel.yield
        }
        kernel.for vector %zero to %two {
        ^bb0(%j: i32):
          %x = kernel.load @other[%row, %j] : f32
          kernel.store %x, @scaled[%row, %j] : f32
          kernel.yield
        }
        kernel.yield
      }
    }
    kernel.schedule {
      kernel.start @roots
      kernel.index @index
    }
    kernel.run {
      kernel.launch @compute
    }
    kernel.output 0 = @count depth 0
    kernel.output 1 = @flag depth 0
    kernel.output 2 = @scaled depth 0
    kernel.output 3 = @links depth 0
  }
}
