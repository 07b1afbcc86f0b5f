import { capsuleStatuses } from "../../../../schema/records/CapsuleLifecycle.ts"
import "../../app/Kit.ts"
import { Link } from "@tanstack/react-router"
import { Background, Controls, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react"
import { useMemo } from "react"
import type { Capsule, Graph } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CapsuleStatus, Status } from "../../ui/Status.tsx"
import { useWords } from "../../words/Words.ts"
import { arrange, nodeHeight, nodeWidth } from "./Arrange.ts"
import { graphWords } from "./Words.ts"

type GraphNode = Graph["nodes"][number]
type FlowNode = Node<{ readonly node: GraphNode; readonly handle: string }, "record">

const capsuleStatus = (status: string): Capsule["status"] | undefined => capsuleStatuses.find((each) => each === status)

const RecordNode = ({ data: { node, handle } }: NodeProps<FlowNode>) => {
  const status = capsuleStatus(node.status)
  const inside = (
    <>
      <span className="node-name">{node.name}</span>
      <span className="node-about">
        {status === undefined ? <Status tone="neutral">{node.status}</Status> : <CapsuleStatus status={status} />}
        {node.environment === undefined ? null : <span className="muted">{node.environment}</span>}
      </span>
    </>
  )
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {node.kind === "capsule" ? (
        <Link
          className="node"
          to="/w/$workspace/capsules/$capsuleId"
          params={{ workspace: handle, capsuleId: node.id }}
        >
          {inside}
        </Link>
      ) : (
        <Link
          className="node node-source"
          to="/w/$workspace/sources/$sourceId"
          params={{ workspace: handle, sourceId: node.id }}
        >
          {inside}
        </Link>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
}

// Never larger than the page's text.
const fit = { maxZoom: 1, padding: 0.12 }

const nodeTypes = { record: RecordNode }

export const Drawing = ({ graph }: { readonly graph: Graph }) => {
  const words = useWords(graphWords)
  const { handle } = useWorkspace()
  const { nodes, edges } = useMemo(() => {
    const known = new Map(graph.nodes.map((node) => [node.id, node]))
    return {
      nodes: arrange(graph).flatMap(({ id, x, y }): ReadonlyArray<FlowNode> => {
        const node = known.get(id)
        return node === undefined
          ? []
          : [
              {
                id,
                type: "record",
                position: { x, y },
                width: nodeWidth,
                height: nodeHeight,
                data: { node, handle },
                focusable: false
              }
            ]
      }),
      edges: graph.edges.map(({ id, from, to }) => ({
        id,
        source: from,
        target: to,
        focusable: false,
        markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18 }
      }))
    }
  }, [graph, handle])
  const nameOf = (id: string) => graph.nodes.find((node) => node.id === id)?.name ?? id
  return (
    <>
      <div className="graph">
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          fitView
          fitViewOptions={fit}
          minZoom={0.2}
          maxZoom={1.5}
          nodesDraggable={false}
          nodesConnectable={false}
          elementsSelectable={false}
          edgesFocusable={false}
          nodesFocusable={false}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={20} />
          <Controls showInteractive={false} position="bottom-right" fitViewOptions={fit} />
        </ReactFlow>
      </div>
      <details className="fold">
        <summary>{words.list}</summary>
        <ul className="plain-list">
          {graph.edges.map((edge) => (
            <li key={edge.id}>
              <strong>{nameOf(edge.to)}</strong> {words.takes(nameOf(edge.from))}
            </li>
          ))}
        </ul>
      </details>
    </>
  )
}
