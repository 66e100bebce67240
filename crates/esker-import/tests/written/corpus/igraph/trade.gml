Creator "igraph version 1.0.0 Sun Nov 29 20:52:31 2026"
Version 1
graph
[
  directed 1
  node
  [
    id 0
    name "Ålesund"
    people 52163
  ]
  node
  [
    id 1
    name "Bergen"
    people 291940
  ]
  node
  [
    id 2
    name "Oslo S"
  ]
  node
  [
    id 3
    name "Vardø"
    people 1
  ]
  node
  [
    id 4
    name "Moss"
    people 2.5
  ]
  edge
  [
    source 0
    target 1
    weight 1
    good "fish"
  ]
  edge
  [
    source 1
    target 2
    weight 2.5
    good "oil, crude"
  ]
  edge
  [
    source 2
    target 0
    weight 3
    good "fish"
  ]
  edge
  [
    source 2
    target 0
    weight 0.1
    good "a &quot;box&quot;"
  ]
  edge
  [
    source 3
    target 3
    weight 4
    good ""
  ]
]
