import type { NoticeKind } from "../../api/Types.ts"
import { CheckField } from "../../ui/Field.tsx"
import { noticeKinds, noticeKindWords } from "../../words/NoticeKindWords.ts"
import { useWords } from "../../words/Words.ts"

/** Selects kinds of notices. `busy` is set if each change is saved immediately. */
export const NoticeKindFields = ({
  busy,
  chosen,
  legend,
  onChange
}: {
  readonly busy?: boolean
  readonly chosen: ReadonlyArray<NoticeKind>
  readonly legend: string
  readonly onChange: (chosen: ReadonlyArray<NoticeKind>) => void
}) => {
  const kinds = useWords(noticeKindWords)
  return (
    <fieldset className="feature">
      <legend>{legend}</legend>
      {noticeKinds.map((kind) => (
        <CheckField
          key={kind}
          label={kinds[kind]}
          checked={chosen.includes(kind)}
          {...(busy === undefined ? {} : { busy })}
          onChange={(event) =>
            onChange(event.target.checked ? [...chosen, kind] : chosen.filter((each) => each !== kind))
          }
        />
      ))}
    </fieldset>
  )
}
