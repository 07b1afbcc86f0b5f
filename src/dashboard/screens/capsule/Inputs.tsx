import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { bindingsQuery, capsulesQuery, connectionsQuery, dependenciesQuery } from "../../api/Queries.ts"
import type { Capsule, DeclaredVariable, InstallConfig } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { useWords } from "../../words/Words.ts"
import { type InputSource, inputSourceOf } from "./InputSources.ts"
import { inputWords } from "./InputWords.ts"

export type SourceOf = (variable: DeclaredVariable) => InputSource

/**
 * Returns the source of each input's value, or `undefined` until the values from other Capsules and Connections are known.
 */
export const useInputSources = (capsule: Capsule): SourceOf | undefined => {
  const workspace = useWorkspace()
  const { data: dependencies } = useQuery(dependenciesQuery(capsule.id))
  const { data: bindings } = useQuery(bindingsQuery(capsule.id))
  const { data: connections } = useQuery(connectionsQuery(workspace.id))
  if (dependencies === undefined || bindings === undefined || connections === undefined) return undefined
  const bound = connections.filter(({ id }) => bindings.some(({ connectionId }) => connectionId === id))
  return (variable) => inputSourceOf(variable, capsule.id, dependencies, bound)
}

export const Source = ({ source }: { readonly source: InputSource }) => {
  const words = useWords(inputWords)
  const workspace = useWorkspace()
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

/** The inputs that a Capsule's module declares, and the source of each value. */
export const Inputs = ({
  actions,
  config,
  sourceOf
}: {
  readonly config: InstallConfig
  readonly sourceOf: SourceOf | undefined
  readonly actions?: ReactNode
}) => {
  const words = useWords(inputWords)
  return (
    <Panel flush title={words.title(config.variables.length)} about={words.about} actions={actions}>
      {config.variables.length === 0 ? (
        <p className="muted input-none">{words.none}</p>
      ) : (
        <ul className="inputs" data-testid="inputs">
          {config.variables.map((variable) => (
            <li key={variable.name}>
              <code className="input-name">{variable.name}</code>
              <Declared variable={variable} />
              <span className="input-source">
                {sourceOf === undefined ? null : <Source source={sourceOf(variable)} />}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
