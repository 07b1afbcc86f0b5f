import { useState } from "react"
import type { Capsule } from "../../api/Types.ts"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { useWords } from "../../words/Words.ts"
import { useRevisionPlan } from "./UseRevisionPlan.ts"
import { capsuleWords } from "./Words.ts"

export const PlanRevision = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const words = useWords(capsuleWords)
  const [ref, setRef] = useState("")
  const plan = useRevisionPlan(capsule.id, onClose)
  return (
    <FormDialog
      title={words.planRefTitle}
      action={words.plan}
      change={plan}
      onSubmit={() => plan.mutate(ref.trim())}
      onClose={onClose}
    >
      <TextField
        label={words.ref}
        helper={words.planRefText}
        mono
        required
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        value={ref}
        onChange={(event) => setRef(event.target.value)}
      />
    </FormDialog>
  )
}
