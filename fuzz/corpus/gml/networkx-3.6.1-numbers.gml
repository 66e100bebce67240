graph [
  multigraph 1
  node [
    id 0
    label "0"
  ]
  node [
    id 1
    label "1"
  ]
  node [
    id 2
    label "2"
  ]
  node [
    id 3
    label "3"
  ]
  node [
    id 4
    label "4"
  ]
  edge [
    source 0
    target 1
    key 0
    weight 1
  ]
  edge [
    source 0
    target 1
    key 1
    weight 2
  ]
  edge [
    source 1
    target 3
    key 0
    weight "9007199254740993"
  ]
  edge [
    source 2
    target 2
    key 0
    weight 3
  ]
]
