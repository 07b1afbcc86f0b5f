import { useQuery } from "@tanstack/react-query"
import { departureQuery } from "../../api/MemberQueries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Loadable } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { automationWords } from "./AutomationWords.ts"

const StoppedItems = ({ title, items }: { readonly title: string; readonly items: ReadonlyArray<string> }) =>
  items.length === 0 ? null : (
    <div>
      <p>{title}</p>
      <ul>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </div>
  )

/** Before the person confirms, lists the automations and access that stop working when the member leaves. */
export const DepartureNotice = ({ subject }: { readonly subject: string }) => {
  const words = useWords(automationWords)
  const workspace = useWorkspace()
  const query = useQuery(departureQuery(workspace.id, subject))
  return (
    <Loadable query={query}>
      {({ connections, keptTokens, tokens }) =>
        connections.length + keptTokens.length + tokens.length === 0 ? (
          <p>{words.stopsNothing}</p>
        ) : (
          <div className="stack">
            <StoppedItems title={words.stopTokens} items={tokens.map(({ id, name }) => `${name} (${id})`)} />
            <StoppedItems
              title={words.stopConnections}
              items={connections.map(({ displayName, name, use }) => `${displayName}: ${name}, ${words.use[use]}`)}
            />
            <StoppedItems
              title={words.keptTokens}
              items={keptTokens.map(({ automation, id, name }) => `${automation}: ${name} (${id})`)}
            />
          </div>
        )
      }
    </Loadable>
  )
}
