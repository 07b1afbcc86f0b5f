import "../../app/Kit.ts"
import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useId, useState } from "react"
import { call } from "../../api/Call.ts"
import { capsulesCreateDependency, capsulesRemoveDependency } from "../../api/Endpoints.ts"
import { capsulesQuery, dependenciesQuery, installConfigQuery, outputsQuery } from "../../api/Queries.ts"
import type { Capsule, Dependency } from "../../api/Types.ts"
import { CapsuleOptions } from "../../app/CapsuleOptions.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, IconButton } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { capsuleWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { useGivenShares } from "./GivenShares.ts"

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

const modes = ["variable_injection", "published_output", "remote_state"] as const
type Mode = Dependency["mode"]
const asMode = (value: string): Mode => modes.find((mode) => mode === value) ?? "variable_injection"

interface Flow {
  readonly id: number
  readonly from: string
  readonly to: string
  readonly required: boolean
}

/**
 * The names under which a Capsule in another Workspace shares its Outputs. Empty if the Capsule is in the same Workspace.
 */
const useSharedNames = (producerId: string): ReadonlyArray<string> =>
  useGivenShares()
    .filter(({ producerCapsuleId }) => producerCapsuleId === producerId)
    .flatMap(({ outputs }) => outputs.map(({ alias, name }) => alias ?? name))

const Names = ({ id, names }: { readonly id: string; readonly names: ReadonlyArray<string> }) => (
  <datalist id={id}>
    {names.map((name) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))}
  </datalist>
)

interface FlowsProps {
  readonly flows: ReadonlyArray<Flow>
  readonly onChange: (flows: ReadonlyArray<Flow>) => void
  readonly producerId: string
  readonly consumer: Capsule
}

const Flows = ({ flows, onChange, producerId, consumer }: FlowsProps) => {
  const words = useWords(capsuleWords)
  const terms = useWords(vocabulary)
  const id = useId()
  const shared = useSharedNames(producerId)
  const isShared = shared.length > 0
  const outputs = useQuery({ ...outputsQuery(producerId), enabled: producerId !== "" && !isShared }).data ?? []
  const inputs = useQuery(installConfigQuery(consumer.installConfigId)).data?.variables ?? []
  const put = (flow: Flow) => onChange(flows.map((each) => (each.id === flow.id ? flow : each)))
  return (
    <fieldset className="flows">
      <legend>{words.depFlows}</legend>
      <Names id={`${id}-outputs`} names={isShared ? shared : outputs.map(({ name }) => name)} />
      <Names id={`${id}-inputs`} names={inputs.map(({ name }) => name)} />
      {flows.map((flow, index) => (
        <div key={flow.id} className="flow">
          <TextField
            label={words.depFrom}
            mono
            required
            autoComplete="off"
            list={`${id}-outputs`}
            value={flow.from}
            onChange={(event) => put({ ...flow, from: event.target.value })}
          />
          <TextField
            label={words.depTo}
            mono
            required
            autoComplete="off"
            list={`${id}-inputs`}
            value={flow.to}
            onChange={(event) => put({ ...flow, to: event.target.value })}
          />
          {flows.length === 1 ? null : (
            <IconButton
              icon="cross"
              label={`${terms.remove}: ${index + 1}`}
              onClick={() => onChange(flows.filter((each) => each.id !== flow.id))}
            />
          )}
          <CheckField
            label={words.depMust}
            checked={flow.required}
            onChange={(event) => put({ ...flow, required: event.target.checked })}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        onClick={() =>
          onChange([
            ...flows,
            { id: Math.max(0, ...flows.map((each) => each.id)) + 1, from: "", to: "", required: true }
          ])
        }
      >
        {words.depMore}
      </Button>
    </fieldset>
  )
}

const NewDependency = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const givers = new Set(useGivenShares().map((share) => share.producerCapsuleId))
  const [producerCapsuleId, setProducer] = useState("")
  const [mode, setMode] = useState<Mode>("variable_injection")
  const [flows, setFlows] = useState<ReadonlyArray<Flow>>([{ id: 1, from: "", to: "", required: true }])
  const orders = mode === "remote_state"
  const create = useDecision({
    send: (signal) =>
      call(capsulesCreateDependency, {
        signal,
        params: { capsuleId: capsule.id },
        body: {
          producerCapsuleId,
          mode,
          outputs: orders ? [] : flows.map(({ from, required, to }) => ({ from: from.trim(), to: to.trim(), required }))
        }
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: dependenciesQuery(capsule.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: ["workspace", workspace.id, "graph"] })
      onClose()
    }
  })
  return (
    <FormDialog
      title={words.depAdd}
      action={words.depAdd}
      change={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <SelectField
        label={words.depProducer}
        required
        value={producerCapsuleId}
        onChange={(event) => setProducer(event.target.value)}
      >
        <CapsuleOptions capsules={capsules.filter(({ id }) => id !== capsule.id)} />
        {[...givers].map((id) => (
          <option key={id} value={id}>
            {words.depShared(id)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.depMode}
        helper={words.modeHelp[mode]}
        value={mode}
        onChange={(event) => setMode(asMode(event.target.value))}
      >
        {modes.map((each) => (
          <option key={each} value={each}>
            {words.modes[each]}
          </option>
        ))}
      </SelectField>
      {orders ? null : <Flows flows={flows} onChange={setFlows} producerId={producerCapsuleId} consumer={capsule} />}
    </FormDialog>
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
