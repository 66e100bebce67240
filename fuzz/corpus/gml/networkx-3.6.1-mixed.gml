graph [
  directed 1
  node [
    id 0
    label "a"
    age 30
    score 1.5
    active 1
    note "x &#38; <y>"
  ]
  node [
    id 1
    label "b"
    age "1099511627776"
  ]
  node [
    id 2
    label "caf&#233;"
  ]
  edge [
    source 0
    target 1
    weight 2
    kind "likes"
  ]
  edge [
    source 1
    target 2
    weight 0.5
    kind "knows"
  ]
  edge [
    source 2
    target 0
    weight 3
    kind "likes"
  ]
]
