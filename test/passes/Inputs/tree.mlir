// The sum of a tree's leaves, squashed at every node: a leaf arm before the recursion, a node arm by level, a head after.
dyn.data @Tree {
  dyn.ctor "Leaf" ["x"] [tensor<4xf32>]
  dyn.ctor "Node" ["left", "right"] [!dyn.node<@Tree>, !dyn.node<@Tree>]
}
dyn.param @W : tensor<4x4xf32>
dyn.cell @encode(%t: !dyn.node<@Tree>) -> (tensor<4xf32>) attributes {surface = tensor<4xf32>} {
  %r = dyn.match %t : !dyn.node<@Tree> -> (tensor<4xf32>) of "Leaf" {
    %x = dyn.field %t "x" of "Leaf" : <@Tree> -> tensor<4xf32>
    %e = math.exp %x : tensor<4xf32>
    dyn.yield %e : tensor<4xf32>
  } of "Node" {
    %left = dyn.field %t "left" of "Node" : <@Tree> -> !dyn.node<@Tree>
    %right = dyn.field %t "right" of "Node" : <@Tree> -> !dyn.node<@Tree>
    %l = dyn.call @encode(%left) : (!dyn.node<@Tree>) -> tensor<4xf32>
    %r = dyn.call @encode(%right) : (!dyn.node<@Tree>) -> tensor<4xf32>
    %s = arith.addf %l, %r : tensor<4xf32>
    %h = math.tanh %s : tensor<4xf32>
    dyn.yield %h : tensor<4xf32>
  }
  dyn.return %r : tensor<4xf32>
}
dyn.entry @root(%t: !dyn.node<@Tree>) -> (tensor<4xf32>) attributes {arg_names = ["t"], arg_types = [!dyn.node<@Tree>], surface = tensor<4xf32>} {
  %e = dyn.call @encode(%t) : (!dyn.node<@Tree>) -> tensor<4xf32>
  %W = dyn.get @W : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] ins(%W, %e : tensor<4x4xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>) -> tensor<4xf32>
  dyn.return %y : tensor<4xf32>
}
