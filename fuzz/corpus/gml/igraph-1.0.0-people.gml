Creator "igraph version 1.0.0 Sun Nov 29 16:28:29 2026"
Version 1
graph
[
  directed 1
  node
  [
    id 0
    name "alice"
    age 30
  ]
  node
  [
    id 1
    name "bob"
    age 41
  ]
  node
  [
    id 2
    name "carol"
  ]
  node
  [
    id 3
    name "dave"
    age 7
  ]
  edge
  [
    source 0
    target 1
    weight 1
    kind "a"
  ]
  edge
  [
    source 1
    target 2
    weight 2.5
    kind "b"
  ]
  edge
  [
    source 2
    target 0
    weight 3
    kind "a"
  ]
  edge
  [
    source 3
    target 3
    weight 0.3
    kind ""
  ]
]
