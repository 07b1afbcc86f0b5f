import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { capsulesQuery, dependenciesQuery } from "../../api/Queries.ts"
import type { Capsule, Dependency } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { capsuleWords } from "./Words.ts"

const Row = ({
  dependency,
  otherId,
  name
}: {
  readonly dependency: Dependency
  readonly otherId: string
  readonly name: string
}) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <Link to="/w/$workspace/capsules/$capsuleId" params={{ workspace: workspace.handle, capsuleId: otherId }}>
          <strong>{name}</strong>
        </Link>
        <span className="muted">{words.modes[dependency.mode]}</span>
      </span>
      <ul className="plain-list">
        {dependency.outputs.map((output) => (
          <li key={`${output.from} ${output.to}`}>
            <code>{output.from}</code> → <code>{output.to}</code>
            {output.required ? <span className="muted"> {words.depRequired}</span> : null}
          </li>
        ))}
      </ul>
    </li>
  )
}

export const Dependencies = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const query = useQuery(dependenciesQuery(capsule.id))
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const nameOf = (id: string) => capsules.find((each) => each.id === id)?.name ?? id
  return (
    <Loadable query={query}>
      {(dependencies) => {
        const takes = dependencies.filter(({ consumerCapsuleId }) => consumerCapsuleId === capsule.id)
        const gives = dependencies.filter(({ producerCapsuleId }) => producerCapsuleId === capsule.id)
        if (dependencies.length === 0) {
          return (
            <Panel title={words.depTitle} about={words.depAbout}>
              <Empty icon="graph" title={words.depNone}>
                <p>{words.depNoneText}</p>
              </Empty>
            </Panel>
          )
        }
        return (
          <>
            {takes.length === 0 ? null : (
              <Panel flush title={words.takes}>
                <ul className="rows">
                  {takes.map((dependency) => (
                    <Row
                      key={dependency.id}
                      dependency={dependency}
                      otherId={dependency.producerCapsuleId}
                      name={nameOf(dependency.producerCapsuleId)}
                    />
                  ))}
                </ul>
              </Panel>
            )}
            {gives.length === 0 ? null : (
              <Panel flush title={words.gives}>
                <ul className="rows">
                  {gives.map((dependency) => (
                    <Row
                      key={dependency.id}
                      dependency={dependency}
                      otherId={dependency.consumerCapsuleId}
                      name={nameOf(dependency.consumerCapsuleId)}
                    />
                  ))}
                </ul>
              </Panel>
            )}
          </>
        )
      }}
    </Loadable>
  )
}
