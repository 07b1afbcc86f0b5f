const mostCharacters = 60

/** Imperatives that look like a different verb form: `Process`, `Pass`, `Bring`, `Embed`, ... */
const imperatives = new Set(
  "access address bypass compress discuss embed exceed feed focus guess need pass process proceed read seed shed speed string".split(
    " "
  )
)
const notVerbs = new Set(
  "a an all any both each every how it no on one that the there this what when where whether who".split(" ")
)

/** Returns the faults of a commit subject as short sentences; empty for a good subject. */
export const subjectFaults = (subject: string): ReadonlyArray<string> => {
  const first = (/^[A-Za-z]+/.exec(subject)?.[0] ?? "").toLowerCase()
  const isOtherForm = !imperatives.has(first) && (/(?:ed|ing|[^s]s)$/.test(first) || notVerbs.has(first))
  return [
    ...(subject.length > mostCharacters ? [`${subject.length} characters instead of at most ${mostCharacters}`] : []),
    ...(first === "" || isOtherForm ? ["does not begin with an imperative"] : [])
  ]
}
