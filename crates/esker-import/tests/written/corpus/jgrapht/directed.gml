Creator "JGraphT GML Exporter"
Version 1
graph
[
	label ""
	directed 1
	node
	[
		id 1
	]
	node
	[
		id 2
	]
	node
	[
		id 3
	]
	node
	[
		id 4
	]
	node
	[
		id 5
	]
	edge
	[
		source 1
		target 2
		weight 2.5
	]
	edge
	[
		source 2
		target 3
		weight 1.0
	]
	edge
	[
		source 3
		target 1
		weight 0.1
	]
	edge
	[
		source 4
		target 1
		weight 4.0
	]
]
