import { useQuery } from "@tanstack/react-query"
import { capsulesQuery, outputsQuery } from "../../api/Queries.ts"
import type { NewDependency } from "../../api/Types.ts"
import { CapsuleOptions } from "../../app/CapsuleOptions.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button, IconButton } from "../../ui/Button.tsx"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { useGivenShares } from "../capsule/GivenShares.ts"
import { installWords } from "./Words.ts"

/** An input that gets its value from an Output of another Capsule. */
export interface Taken {
  readonly id: number
  readonly input: string
  readonly producerCapsuleId: string
  readonly output: string
}

const isWhole = ({ input, output, producerCapsuleId }: Taken) =>
  input !== "" && producerCapsuleId !== "" && output.trim() !== ""

/** The dependencies as sent in the request, with one dependency per producer. Incomplete rows are omitted. */
export const dependenciesOf = (taken: ReadonlyArray<Taken>): ReadonlyArray<NewDependency> =>
  [...new Set(taken.filter(isWhole).map(({ producerCapsuleId }) => producerCapsuleId))].map((producerCapsuleId) => ({
    producerCapsuleId,
    mode: "variable_injection",
    outputs: taken
      .filter((row) => isWhole(row) && row.producerCapsuleId === producerCapsuleId)
      .map(({ input, output }) => ({ from: output.trim(), to: input, required: true }))
  }))

interface RowProps {
  readonly row: Taken
  readonly inputs: ReadonlyArray<string>
  readonly onChange: (row: Taken) => void
  readonly onRemove: () => void
}

const Row = ({ row, inputs, onChange, onRemove }: RowProps) => {
  const words = useWords(installWords).from
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const shares = useGivenShares()
  const shared = shares
    .filter(({ producerCapsuleId }) => producerCapsuleId === row.producerCapsuleId)
    .flatMap(({ outputs }) => outputs.map(({ alias, name }) => alias ?? name))
  const own = useQuery({
    ...outputsQuery(row.producerCapsuleId),
    enabled: row.producerCapsuleId !== "" && shared.length === 0
  }).data
  const names = shared.length > 0 ? shared : (own ?? []).map(({ name }) => name)
  const list = `from-capsules-${row.id}`
  return (
    <div className="flow">
      <SelectField
        label={words.input}
        value={row.input}
        onChange={(event) => onChange({ ...row, input: event.target.value })}
      >
        <option value="">{words.choose}</option>
        {inputs.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.producer}
        value={row.producerCapsuleId}
        onChange={(event) => onChange({ ...row, producerCapsuleId: event.target.value })}
      >
        <CapsuleOptions
          capsules={capsules.filter(({ currentStateVersionId }) => currentStateVersionId !== undefined)}
        />
        {[...new Set(shares.map(({ producerCapsuleId }) => producerCapsuleId))].map((id) => (
          <option key={id} value={id}>
            {words.shared(id)}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.output}
        mono
        autoComplete="off"
        list={list}
        value={row.output}
        onChange={(event) => onChange({ ...row, output: event.target.value })}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
      <IconButton icon="cross" label={`${terms.remove}: ${row.input === "" ? row.id : row.input}`} onClick={onRemove} />
    </div>
  )
}

interface FromCapsulesProps {
  readonly inputs: ReadonlyArray<string>
  readonly taken: ReadonlyArray<Taken>
  readonly onChange: (taken: ReadonlyArray<Taken>) => void
}

/** Inputs that get their value from another Capsule. */
export const FromCapsules = ({ inputs, taken, onChange }: FromCapsulesProps) => {
  const words = useWords(installWords).from
  const free = (row: Taken) => inputs.filter((name) => name === row.input || !taken.some(({ input }) => input === name))
  return (
    <details className="fold" open={taken.length > 0 || undefined}>
      <summary>{words.title}</summary>
      <p className="muted">{words.about}</p>
      <div className="form">
        {taken.map((row) => (
          <Row
            key={row.id}
            row={row}
            inputs={free(row)}
            onChange={(changed) => onChange(taken.map((each) => (each.id === row.id ? changed : each)))}
            onRemove={() => onChange(taken.filter(({ id }) => id !== row.id))}
          />
        ))}
        <Button
          small
          icon="plus"
          onClick={() =>
            onChange([
              ...taken,
              { id: Math.max(0, ...taken.map(({ id }) => id)) + 1, input: "", producerCapsuleId: "", output: "" }
            ])
          }
        >
          {words.add}
        </Button>
      </div>
    </details>
  )
}
