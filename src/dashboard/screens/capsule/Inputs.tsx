import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { bindingsQuery, capsulesQuery, connectionsQuery, dependenciesQuery } from "../../api/Queries.ts"
import type { Capsule, Connection, DeclaredVariable, Dependency, InstallConfig } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { useWords } from "../../words/Words.ts"
import { inputSourceOf } from "./InputSources.ts"
import { inputWords } from "./InputWords.ts"

const Source = ({
  capsule,
  connections,
  dependencies,
  variable
}: {
  readonly capsule: Capsule
  readonly connections: ReadonlyArray<Connection>
  readonly dependencies: ReadonlyArray<Dependency>
  readonly variable: DeclaredVariable
}) => {
  const words = useWords(inputWords)
  const workspace = useWorkspace()
  const source = inputSourceOf(variable, capsule.id, dependencies, connections)
  const injected = source.kind === "injected"
  const capsules = useQuery({ ...capsulesQuery(workspace.id), enabled: injected }).data ?? []
  if (source.kind === "connection") {
    return (
      <span>
        {words.fromConnection}{" "}
        <Link to="/w/$workspace/connections" params={{ workspace: workspace.handle }}>
          {source.displayName}
        </Link>
      </span>
    )
  }
  if (!injected) {
    const tone = source.kind === "missing" ? "bad" : source.kind === "default" ? "muted" : "good"
    return <Status tone={tone}>{words.sources[source.kind]}</Status>
  }
  return (
    <span>
      {words.from}{" "}
      <Link
        to="/w/$workspace/capsules/$capsuleId"
        params={{ workspace: workspace.handle, capsuleId: source.producerCapsuleId }}
      >
        {capsules.find(({ id }) => id === source.producerCapsuleId)?.name ?? source.producerCapsuleId}
      </Link>
      <code>.{source.output}</code>
    </span>
  )
}

const Declared = ({ variable }: { readonly variable: DeclaredVariable }) => {
  const words = useWords(inputWords)
  const { defaultJson, description, ephemeral, hasDefault, required, sensitive, type, typeExpression = type } = variable
  return (
    <>
      <span className="input-type">
        <code>{typeExpression}</code>
        <span className="muted">{required ? words.required : words.optional}</span>
        {sensitive ? <span className="tag">{words.sensitive}</span> : null}
        {ephemeral ? <span className="tag">{words.ephemeral}</span> : null}
      </span>
      <span className="input-about">
        {description === undefined || description === "" ? (
          <span className="muted">{words.noDescription}</span>
        ) : (
          <bdi>{description}</bdi>
        )}
        {defaultJson !== undefined ? (
          <code className="muted">{words.default(defaultJson)}</code>
        ) : hasDefault ? (
          <span className="muted">{words.hiddenDefault}</span>
        ) : null}
      </span>
    </>
  )
}

/** The inputs that a Capsule's module declares, and the sources of their values. */
export const Inputs = ({ capsule, config }: { readonly capsule: Capsule; readonly config: InstallConfig }) => {
  const words = useWords(inputWords)
  const workspace = useWorkspace()
  const { data: dependencies } = useQuery(dependenciesQuery(capsule.id))
  const { data: bindings } = useQuery(bindingsQuery(capsule.id))
  const { data: connections } = useQuery(connectionsQuery(workspace.id))
  const bound = (connections ?? []).filter(
    ({ id }) => bindings?.some(({ connectionId }) => connectionId === id) === true
  )
  const isKnown = dependencies !== undefined && bindings !== undefined && connections !== undefined
  return (
    <Panel flush title={words.title(config.variables.length)} about={words.about}>
      {config.variables.length === 0 ? (
        <p className="muted input-none">{words.none}</p>
      ) : (
        <ul className="inputs" data-testid="inputs">
          {config.variables.map((variable) => (
            <li key={variable.name}>
              <code className="input-name">{variable.name}</code>
              <Declared variable={variable} />
              <span className="input-source">
                {/* Not before it is known whether another Capsule or a Connection gives it. */}
                {isKnown ? (
                  <Source capsule={capsule} connections={bound} dependencies={dependencies} variable={variable} />
                ) : null}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
