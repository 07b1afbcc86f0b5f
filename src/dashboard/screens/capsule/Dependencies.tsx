import "../../app/Kit.ts"
import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { capsulesRemoveDependency } from "../../api/Endpoints.ts"
import { capsulesQuery, dependenciesQuery } from "../../api/Queries.ts"
import type { Capsule, Dependency } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { NewDependency } from "./NewDependency.tsx"
import { capsuleWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const Remove = ({
  dependency,
  capsuleId,
  name
}: {
  readonly dependency: Dependency
  readonly capsuleId: string
  readonly name: string
}) => {
  const words = useWords(capsuleWords)
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const remove = useDecision({
    send: (signal) => call(capsulesRemoveDependency, { signal, params: { dependencyId: dependency.id } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: dependenciesQuery(capsuleId).queryKey })
      void queryClient.invalidateQueries({ queryKey: ["workspace", dependency.workspaceId, "graph"] })
    }
  })
  return (
    <span className="row-end">
      <Button small of={name} tone="quiet" onClick={() => setAsking(true)}>
        {terms.remove}
      </Button>
      {asking ? (
        <ConfirmDialog
          title={words.depRemoveTitle(name)}
          action={terms.remove}
          change={remove}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          {words.depRemoveText}
        </ConfirmDialog>
      ) : null}
    </span>
  )
}

const Row = ({
  dependency,
  capsuleId,
  otherId,
  name
}: {
  readonly dependency: Dependency
  readonly capsuleId: string
  readonly otherId: string
  readonly name: string
}) => {
  const words = useWords(capsuleWords)
  const may = useMay()
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
      {may("admin") ? <Remove dependency={dependency} capsuleId={capsuleId} name={name} /> : null}
    </li>
  )
}

interface SideProps {
  readonly title: string
  readonly dependencies: ReadonlyArray<Dependency>
  readonly capsuleId: string
  readonly otherOf: (dependency: Dependency) => string
}

const Side = ({ title, dependencies, capsuleId, otherOf }: SideProps) => {
  const workspace = useWorkspace()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  return dependencies.length === 0 ? null : (
    <Panel flush title={title}>
      <ul className="rows">
        {dependencies.map((dependency) => {
          const otherId = otherOf(dependency)
          return (
            <Row
              key={dependency.id}
              dependency={dependency}
              capsuleId={capsuleId}
              otherId={otherId}
              name={capsules.find(({ id }) => id === otherId)?.name ?? otherId}
            />
          )
        })}
      </ul>
    </Panel>
  )
}

export const Dependencies = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const may = useMay()
  const query = useQuery(dependenciesQuery(capsule.id))
  const [adding, setAdding] = useState(false)
  const add =
    may("admin") && !isEnded(capsule.status) ? (
      <Button small icon="plus" onClick={() => setAdding(true)}>
        {words.depAdd}
      </Button>
    ) : null
  return (
    <div className="stack">
      <Loadable query={query}>
        {(dependencies) => (
          <>
            {dependencies.length === 0 ? (
              <Panel title={words.depTitle} about={words.depAbout}>
                <Empty icon="graph" title={words.depNone} action={add}>
                  <p>{words.depNoneText}</p>
                </Empty>
              </Panel>
            ) : (
              <div className="tab-head">
                <p className="muted">{words.depAbout}</p>
                {add}
              </div>
            )}
            <Side
              title={words.takes}
              dependencies={dependencies.filter(({ consumerCapsuleId }) => consumerCapsuleId === capsule.id)}
              capsuleId={capsule.id}
              otherOf={({ producerCapsuleId }) => producerCapsuleId}
            />
            <Side
              title={words.gives}
              dependencies={dependencies.filter(({ producerCapsuleId }) => producerCapsuleId === capsule.id)}
              capsuleId={capsule.id}
              otherOf={({ consumerCapsuleId }) => consumerCapsuleId}
            />
          </>
        )}
      </Loadable>
      {adding ? <NewDependency capsule={capsule} onClose={() => setAdding(false)} /> : null}
    </div>
  )
}
