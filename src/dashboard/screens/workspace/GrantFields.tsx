import { mostGrants } from "../../../../schema/records/Team.ts"
import { Button } from "../../ui/Button.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"
import { type Place, PlaceFields } from "./PlaceFields.tsx"

const grantable = ["viewer", "member", "admin"] as const

/** A role that a team grants, as stored in the form. */
export interface GrantForm extends Place {
  /** Distinguishes the entries of the form. */
  readonly key: number
  readonly role: string
}

/** The roles that a team grants, each for a Project and an environment. */
export const GrantFields = ({
  grants,
  onChange
}: {
  readonly grants: ReadonlyArray<GrantForm>
  readonly onChange: (grants: ReadonlyArray<GrantForm>) => void
}) => {
  const words = useWords(approvalWords)
  const terms = useWords(vocabulary)
  const change = (key: number, changed: Partial<GrantForm>) =>
    onChange(grants.map((grant) => (grant.key === key ? { ...grant, ...changed } : grant)))
  const add = () => {
    const key = Math.max(0, ...grants.map((grant) => grant.key)) + 1
    onChange([...grants, { key, role: "member", projectId: "", environment: "" }])
  }
  return (
    <>
      {grants.map((grant, at) => (
        <fieldset className="field" key={grant.key}>
          <legend>{words.grantNumber(at + 1)}</legend>
          <SelectField
            label={words.grant}
            value={grant.role}
            onChange={(event) => change(grant.key, { role: event.target.value })}
          >
            {grantable.map((role) => (
              <option key={role} value={role}>
                {terms.role[role]}
              </option>
            ))}
          </SelectField>
          <PlaceFields
            environmentLabel={words.grantEnvironment}
            place={grant}
            onChange={(place) => change(grant.key, place)}
          />
          <Button small onClick={() => onChange(grants.filter(({ key }) => key !== grant.key))}>
            {words.removeGrant(at + 1)}
          </Button>
        </fieldset>
      ))}
      {grants.length < mostGrants ? (
        <div>
          <Button small onClick={add}>
            {words.addGrant}
          </Button>
        </div>
      ) : null}
    </>
  )
}
