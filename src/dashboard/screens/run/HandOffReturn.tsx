import { useState } from "react"
import { post } from "../../api/Client.ts"
import type { Run } from "../../api/Types.ts"
import { endHandOff, handOffOf, leadsTo } from "../../app/HandOffs.ts"
import { useMay } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { useWords } from "../../words/Words.ts"
import { handOffWords } from "./HandOffWords.ts"
import { useDecision } from "../../ui/Decision.ts"

const isWeb = (uri: string): boolean => uri.startsWith("https://")

/**
 * The link back to the program from which the person came. The address with its one-time ticket is requested when the person
 * clicks the link, and is neither shown nor stored. Until the click, the program receives nothing.
 */
export const HandOffReturn = ({ run }: { readonly run: Run }) => {
  const words = useWords(handOffWords)
  const may = useMay()
  const { capsuleId } = run
  const [handOff] = useState(() => (capsuleId === undefined ? undefined : handOffOf(capsuleId, run.id)))
  const [left, setLeft] = useState(false)
  const [astray, setAstray] = useState(false)
  const go = useDecision({
    send: (signal) => post<{ readonly location: string }>("/install/return", { runId: run.id, ...handOff }, { signal }),
    onSuccess: ({ location }) => {
      if (capsuleId === undefined || handOff === undefined || !leadsTo(location, handOff)) {
        setAstray(true)
        return
      }
      endHandOff(capsuleId, run.id)
      setLeft(true)
      window.location.replace(location)
    }
  })
  if (handOff === undefined) return null
  if (run.type !== "apply" || run.status !== "succeeded") {
    return run.type === "plan" || run.type === "apply" ? (
      <p className="hand-off-note">
        <Icon name="external" />
        <span>
          {words.later(handOff.product)} <code>{handOff.returnUri}</code>
        </span>
      </p>
    ) : null
  }
  return (
    <section className="hand-off">
      <div className="hand-off-text">
        <h2>{words.title}</h2>
        <p>
          {words.text(handOff.product)} <code>{handOff.returnUri}</code>
        </p>
        {left && !isWeb(handOff.returnUri) ? <p className="muted">{words.notOpened}</p> : null}
        {may("admin") ? null : <p className="muted">{words.needsAdmin}</p>}
        {astray ? <Notice tone="bad">{words.astray}</Notice> : null}
        {go.error === null ? null : <FaultNotice error={go.error} />}
      </div>
      {may("admin") ? (
        <Button tone="primary" icon="external" busy={go.isPending} onClick={() => go.mutate()}>
          {words.go(handOff.product)}
        </Button>
      ) : null}
    </section>
  )
}
