// A recurrence over a list and a value for each of its states.
dyn.entry @run(%xs: !dyn.list<f32>) -> (!dyn.list<f32>) attributes {arg_names = ["xs"], arg_types = [!dyn.list<f32>], surface = !dyn.list<f32>} {
  %s0 = arith.constant 0.0 : f32
  %states = dyn.scan(%xs) from(%s0) : (!dyn.list<f32>), (f32) -> (!dyn.list<f32>) {
  ^bb0(%x: f32, %s: f32):
    %a = arith.addf %x, %s : f32
    %t = math.tanh %a : f32
    dyn.yield %t : f32
  }
  %ys = dyn.map(%states) : (!dyn.list<f32>) -> !dyn.list<f32> {
  ^bb0(%s: f32):
    %e = math.exp %s : f32
    dyn.yield %e : f32
  }
  dyn.return %ys : !dyn.list<f32>
}
