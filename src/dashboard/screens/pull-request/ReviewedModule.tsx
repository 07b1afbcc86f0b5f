import type { ReactNode } from "react"
import type { ModuleReview } from "../../api/Types.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { Facts } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { pullRequestWords } from "./Words.ts"

type Change = ModuleReview["resources"]

const kinds = ["resources", "dataSources", "moduleCalls", "providers", "inputs", "outputs"] as const

const Places = ({ items, more }: { readonly items: Change["added"]; readonly more: number }) => {
  const words = useWords(pullRequestWords)
  return (
    <ul className="addresses">
      {items.map(({ line, name, path }) => (
        <li key={`${name} ${path} ${line}`}>
          <code>{name}</code>{" "}
          <span className="muted">
            {path}:{line}
          </span>
        </li>
      ))}
      {more === 0 ? null : <li className="muted">{words.more(more)}</li>}
    </ul>
  )
}

const Signed = ({ sign, text, word }: { readonly sign: string; readonly text: string; readonly word: string }) => (
  <li>
    {sign} <span className="visually-hidden">{word}: </span>
    <code>{text}</code>
  </li>
)

const Changes = ({ added, more, removed }: Change) => {
  const words = useWords(pullRequestWords)
  return (
    <ul className="addresses">
      {added.map(({ name, path, line }) => (
        <Signed key={`+ ${name} ${path} ${line}`} sign="+" word={words.added} text={name} />
      ))}
      {removed.map(({ name, path, line }) => (
        <Signed key={`- ${name} ${path} ${line}`} sign="−" word={words.removed} text={name} />
      ))}
      {more === 0 ? null : <li className="muted">{words.more(more)}</li>}
    </ul>
  )
}

const Files = ({ files }: Pick<ModuleReview, "files">) => {
  const words = useWords(pullRequestWords)
  return (
    <ul className="addresses">
      {files.added.map((path) => (
        <Signed key={`+ ${path}`} sign="+" word={words.added} text={path} />
      ))}
      {files.changed.map((path) => (
        <Signed key={`~ ${path}`} sign="~" word={words.changed} text={path} />
      ))}
      {files.removed.map((path) => (
        <Signed key={`- ${path}`} sign="−" word={words.removed} text={path} />
      ))}
      {files.more === 0 ? null : <li className="muted">{words.more(files.more)}</li>}
    </ul>
  )
}

const Check = ({ details = [], reason, status }: ModuleReview["validation"]) => {
  const words = useWords(pullRequestWords)
  return (
    <>
      <span className={status === "failed" ? "bad-text" : undefined}>{words.checks[status]}</span>{" "}
      <span lang="en">{[...(reason === undefined ? [] : [reason]), ...details].join(", ")}</span>
    </>
  )
}

const isEmpty = ({ added, more, removed }: Change): boolean => added.length + removed.length + more === 0

const hasFiles = ({ added, changed, more, removed }: ModuleReview["files"]): boolean =>
  added.length + changed.length + removed.length + more > 0

/** The facts that the static review found about one module: first the code that would run, then the changes. */
export const ReviewedModule = ({ module }: { readonly module: ModuleReview }) => {
  const words = useWords(pullRequestWords)
  const changes = kinds.flatMap((kind): ReadonlyArray<readonly [string, ReactNode]> => {
    const { [kind]: change } = module
    return isEmpty(change) ? [] : [[words[kind], <Changes key={kind} {...change} />]]
  })
  return (
    <section className="stack" aria-label={words.module(module.path)}>
      <h3>
        {words.module(module.path)} <span className="muted">{words.moduleStatus[module.status]}</span>
      </h3>
      {module.runsCode.present.length === 0 ? (
        module.status === "absent" ? null : (
          <p>{words.runsNoCode}</p>
        )
      ) : (
        <Notice tone="warn" title={words.runsCode}>
          <Places items={module.runsCode.present} more={module.runsCode.more} />
        </Notice>
      )}
      {module.unread.length === 0 ? null : (
        <Notice tone="warn" title={words.unread}>
          <ul className="addresses">
            {module.unread.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {module.findings.length === 0 ? null : (
        <Notice tone="bad" title={words.findings}>
          <ul>
            {module.findings.map(({ message }) => (
              <li key={message} lang="en">
                {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <Facts
        items={[
          [words.files, hasFiles(module.files) ? <Files key="files" files={module.files} /> : undefined],
          ...changes,
          [words.lockFile, words.lockFiles[module.lockFile]],
          [words.validation, <Check key="validation" {...module.validation} />],
          [words.formatting, <Check key="formatting" {...module.formatting} />]
        ]}
      />
    </section>
  )
}
