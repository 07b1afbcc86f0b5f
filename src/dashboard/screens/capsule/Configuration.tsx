import "../../app/Kit.ts"
import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { capsulesConfigurationPlan } from "../../api/Endpoints.ts"
import { bindingsQuery, capsuleQuery, connectionsQuery, installConfigQuery } from "../../api/Queries.ts"
import type { Capsule, InstallConfig, ProviderBinding } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import {
  answersOf,
  changeableVariables,
  type Draft,
  type FieldProblem,
  fieldsOf,
  type FormField,
  formModel,
  type FormModel
} from "../../forms/FormModel.ts"
import { VariableForm } from "../../forms/VariableForm.tsx"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { providerName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { BuildDisclosure } from "../install/BuildDisclosure.tsx"
import { Inputs, Source, type SourceOf, useInputSources } from "./Inputs.tsx"
import { ReAdoptPanel } from "./ReAdopt.tsx"
import { capsuleWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"
import { inputWords } from "./InputWords.ts"

const Bindings = ({
  bindings,
  chosen,
  onChange
}: {
  readonly bindings: ReadonlyArray<ProviderBinding>
  readonly chosen: Readonly<Record<number, string>>
  readonly onChange: (index: number, id: string) => void
}) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const connections = useQuery(connectionsQuery(workspace.id)).data ?? []
  if (bindings.length === 0) return <p className="muted">{words.configBindingsNone}</p>
  return (
    <div className="form">
      {bindings.map((binding, index) => (
        <SelectField
          key={`${binding.moduleLocalName}.${binding.childAlias ?? ""}`}
          label={`${binding.moduleLocalName}${binding.childAlias === undefined ? "" : `.${binding.childAlias}`}`}
          helper={providerName(binding.provider)}
          value={chosen[index] ?? binding.connectionId}
          onChange={(event) => onChange(index, event.target.value)}
        >
          {connections
            .filter(
              (connection) =>
                connection.id === binding.connectionId ||
                (providerName(connection.provider) === providerName(binding.provider) &&
                  connection.status !== "revoked")
            )
            .map((connection) => (
              <option key={connection.id} value={connection.id}>
                {connection.displayName}
              </option>
            ))}
        </SelectField>
      ))}
    </div>
  )
}

interface FormProps {
  readonly capsule: Capsule
  readonly config: InstallConfig
  readonly bindings: ReadonlyArray<ProviderBinding>
}

/** New values for inputs, and the names of inputs whose values are removed. */
interface InputChange {
  readonly draft: Draft
  readonly removed: ReadonlySet<string>
}

interface ChangeInputsProps {
  readonly config: InstallConfig
  readonly model: FormModel
  readonly fields: ReadonlyArray<FormField>
  readonly sourceOf: SourceOf
  readonly problems: ReadonlyMap<string, { readonly problem: FieldProblem; readonly detail?: string }>
  readonly change: InputChange
  readonly onChange: (change: InputChange) => void
}

/**
 * The form for the inputs that people can set. Inputs that get their value from another Capsule are listed but cannot be
 * edited.
 */
const ChangeInputs = ({ change, config, fields, model, onChange, problems, sourceOf }: ChangeInputsProps) => {
  const words = useWords(capsuleWords)
  const inputs = useWords(inputWords)
  const form = useRef<HTMLDivElement>(null)
  // Focuses the form, because the button that opened it no longer exists.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus(), [])
  const sources = new Map(config.variables.map((variable) => [variable.name, sourceOf(variable)]))
  const isSet = new Set(config.variables.filter((variable) => variable.set).map(({ name }) => name))
  const isRequired = new Set(config.variables.filter((variable) => variable.required).map(({ name }) => name))
  const removable = fields.filter(({ name }) => isSet.has(name) && !isRequired.has(name))
  const without = (name: string) => new Set([...change.removed].filter((each) => each !== name))
  const noteFor = (name: string) => {
    const source = sources.get(name)
    if (isSet.has(name)) return words.configSet
    return source?.kind === "connection" ? `${inputs.fromConnection} ${source.displayName}` : undefined
  }
  return (
    <Panel title={words.configTitle} about={words.configAbout}>
      <div className="stack" ref={form}>
        <VariableForm
          model={model}
          draft={change.draft}
          problems={problems}
          onChange={(name, value) => onChange({ draft: { ...change.draft, [name]: value }, removed: without(name) })}
          noteFor={noteFor}
        />
        {[...sources].map(([name, source]) =>
          source.kind === "injected" ? (
            <p key={name}>
              <code>{name}</code> <Source source={source} />
            </p>
          ) : null
        )}
        {removable.length === 0 ? null : (
          <details className="fold">
            <summary>{words.configReset}</summary>
            <ul className="plain-list">
              {removable.map(({ name }) => (
                <li key={name}>
                  <label className="inline-check">
                    <input
                      type="checkbox"
                      checked={change.removed.has(name)}
                      onChange={(event) =>
                        onChange({
                          ...change,
                          removed: event.target.checked ? new Set([...change.removed, name]) : without(name)
                        })
                      }
                    />{" "}
                    <code>{name}</code>
                  </label>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </Panel>
  )
}

const Form = ({ capsule, config, bindings }: FormProps) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const may = useMay()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [change, setChange] = useState<InputChange>({ draft: {}, removed: new Set() })
  const [isEditing, setEditing] = useState(false)
  const sourceOf = useInputSources(capsule)
  const [chosen, setChosen] = useState<Readonly<Record<number, string>>>({})
  const [tried, setTried] = useState(false)
  const [key] = useState(newIdempotencyKey)
  const isSet = new Set(config.variables.filter((variable) => variable.set).map(({ name }) => name))
  // An Output of another Capsule takes precedence over a value from a person, so the form omits inputs that an Output
  // provides.
  const changeable = changeableVariables(config).filter((variable) => sourceOf?.(variable).kind !== "injected")
  const model = formModel(changeable, changeable, config.presentation)
  // A required question that already has a stored value can stay empty.
  const fields = fieldsOf(model).map((field) => ({ ...field, required: field.required && !isSet.has(field.name) }))
  const answers = answersOf(fields, change.draft)
  const changed =
    Object.keys(answers.values).length > 0 ||
    change.removed.size > 0 ||
    Object.entries(chosen).some(([index, id]) => bindings[Number(index)]?.connectionId !== id)
  const plan = useDecision({
    send: (signal) => {
      const body = {
        variablePatch: { set: answers.values, remove: [...change.removed] },
        providerBindings: bindings.map((binding, index) => ({
          ...binding,
          connectionId: chosen[index] ?? binding.connectionId
        })),
        interfaceBlueprints: config.interfaceBlueprints,
        expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
      }
      return call(capsulesConfigurationPlan, { signal, params: { capsuleId: capsule.id }, body, idempotencyKey: key })
    },
    onSuccess: (answer) => {
      void queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
      void navigate({
        to: "/w/$workspace/runs/$runId",
        params: { workspace: workspace.handle, runId: answer.planRunId }
      })
    }
  })
  const editable = may("admin") && isInService(capsule.status)
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (answers.problems.size === 0 && changed && !plan.isPending) plan.mutate()
      }}
    >
      {isEditing && sourceOf !== undefined ? (
        <ChangeInputs
          config={config}
          model={model}
          fields={fields}
          sourceOf={sourceOf}
          problems={tried ? answers.problems : new Map()}
          change={change}
          onChange={setChange}
        />
      ) : (
        <Inputs
          config={config}
          sourceOf={sourceOf}
          actions={
            editable && fields.length > 0 ? (
              <Button small onClick={() => setEditing(true)}>
                {words.configTitle}
              </Button>
            ) : undefined
          }
        />
      )}
      <Panel title={words.configBindings}>
        <Bindings bindings={bindings} chosen={chosen} onChange={(index, id) => setChosen({ ...chosen, [index]: id })} />
      </Panel>
      {config.sourceBuild === undefined ? null : (
        <Panel title={words.build}>
          <BuildDisclosure build={config.sourceBuild} />
        </Panel>
      )}
      {plan.error === null ? null : <FaultNotice error={plan.error} />}
      {editable ? (
        <div className="form-actions">
          <Button tone="primary" type="submit" busy={plan.isPending} disabled={!changed}>
            {words.configPlan}
          </Button>
          {changed ? null : <span className="muted">{words.configNothing}</span>}
        </div>
      ) : null}
    </form>
  )
}

export const Configuration = ({ capsule }: { readonly capsule: Capsule }) => {
  const config = useQuery(installConfigQuery(capsule.installConfigId))
  const bindings = useQuery(bindingsQuery(capsule.id))
  return (
    <div className="stack">
      <Loadable query={config}>
        {(found) => (
          <Loadable query={bindings}>
            {(bound) => <Form key={found.id} capsule={capsule} config={found} bindings={bound} />}
          </Loadable>
        )}
      </Loadable>
      <ReAdoptPanel capsule={capsule} />
    </div>
  )
}
