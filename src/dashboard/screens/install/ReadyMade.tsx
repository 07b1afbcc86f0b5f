import { useQuery } from "@tanstack/react-query"
import { readyMadeQuery } from "../../api/Queries.ts"
import type { InstallConfig } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useWords } from "../../words/Words.ts"
import { installWords } from "./Words.ts"

/** The address of a ready-made configuration, without the slash that marks a folder. */
export const readyMadeUrl = (place: { readonly origin: string; readonly path?: string }): string =>
  [place.origin.replace(/\/$/, ""), place.path?.replace(/^\/|\/$/g, "")].filter((part) => part !== undefined).join("/")

const Entry = ({ config, onChoose }: { readonly config: InstallConfig; readonly onChoose: (url: string) => void }) => {
  const words = useWords(installWords)
  const { operator } = config
  if (operator?.place === undefined) return null
  const url = readyMadeUrl(operator.place)
  return (
    <li>
      <Button small onClick={() => onChoose(url)}>
        {operator.name ?? url}
      </Button>{" "}
      <code>{url}</code>{" "}
      <span className="muted">
        {operator.place.module ?? words.readyMadeAll} · {operator.profile}
      </span>
      {operator.description === undefined ? null : <small>{operator.description}</small>}
    </li>
  )
}

/** The operator's ready-made configurations for modules on this server, if any. */
export const ReadyMade = ({ onChoose }: { readonly onChoose: (url: string) => void }) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const { data = [] } = useQuery(readyMadeQuery(workspace.id))
  if (data.length === 0) return null
  return (
    <section className="stack">
      <h3>{words.readyMade}</h3>
      <p className="muted">{words.readyMadeAbout}</p>
      <ul className="plain-list">
        {data.map((config) => (
          <Entry key={config.id} config={config} onChoose={onChoose} />
        ))}
      </ul>
    </section>
  )
}
