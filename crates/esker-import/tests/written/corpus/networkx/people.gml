graph [
  directed 1
  node [
    id 0
    label "ann"
    age 30
    score 1.5
    active 1
    note "says &#34;hi&#34; &#38; <bye>"
  ]
  node [
    id 1
    label "bob"
    age "1099511627776"
  ]
  node [
    id 2
    label "zo&#235; lee"
  ]
  edge [
    source 0
    target 1
    weight 2
    kind "likes"
  ]
  edge [
    source 0
    target 0
    weight 1
    kind ""
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
    kind "likes, a lot"
  ]
]
