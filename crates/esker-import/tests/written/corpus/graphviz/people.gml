graph [
  version 2
  directed 1
  node [
    id 0
    name "ann"
    age 30
  ]
  node [
    id 1
    name "cleo d"
    age 7
  ]
  node [
    id 2
    name "bob"
    age ""
  ]
  edge [
    id 1
    source 0
    target 2
    weight 3
  ]
  edge [
    id 3
    source 1
    target 0
    weight 2
  ]
  edge [
    id 2
    source 2
    target 1
    weight 0.5
  ]
]
