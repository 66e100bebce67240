graph [
  directed 1
  node [
    id 0
    label "007"
  ]
  node [
    id 1
    label "010"
  ]
  node [
    id 2
    label "7"
  ]
  edge [
    source 0
    target 1
  ]
  edge [
    source 1
    target 2
  ]
  edge [
    source 2
    target 0
  ]
]
