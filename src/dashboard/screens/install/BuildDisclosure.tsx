import type { SourceBuild } from "../../api/Types.ts"
import { useWords } from "../../words/Words.ts"
import { installWords } from "./Words.ts"

/**
 * Shows the exact commands that will run, argument by argument. The arguments are not joined into one line, because a joined
 * line could hide a quote.
 */
export const BuildDisclosure = ({ build }: { readonly build: SourceBuild }) => {
  const words = useWords(installWords)
  return (
    <div className="build">
      <p>{words.buildAbout}</p>
      <ol>
        {build.commands.map((command, index) => (
          <li key={index}>
            <span className="argv">
              {command.argv.map((argument, at) => (
                <code key={at}>{argument}</code>
              ))}
            </span>
            <span className="muted">
              {words.buildIn}{" "}
              {command.workingDirectory === undefined ? words.buildRoot : <code>{command.workingDirectory}</code>}
            </span>
          </li>
        ))}
      </ol>
      <p>{words.buildOutputs}</p>
      <ul className="plain-list">
        {build.outputs.map((output) => (
          <li key={output}>
            <code>{output}</code>
          </li>
        ))}
      </ul>
    </div>
  )
}
