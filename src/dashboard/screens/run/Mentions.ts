import type { Member } from "../../api/Types.ts"

type Person = Pick<Member, "displayName" | "email" | "kind" | "status" | "subject">

/** The name that follows an `@` in a mention of a member. */
export const mentionName = ({ displayName, email, subject }: Person): string => displayName ?? email ?? subject

/** The members who can be mentioned: people who can read the Run. */
export const mentionable = <P extends Person>(members: ReadonlyArray<P>): ReadonlyArray<P> =>
  members.filter(({ kind, status }) => kind === "person" && status === "active")

/** A partially typed mention: the text after the `@`, and the position of the `@`. */
export interface OpenMention {
  readonly at: number
  readonly typed: string
}

const mostTyped = 60

/**
 * Returns the mention that ends at the caret, if there is one. An `@` within a word, such as an address, does not begin a
 * mention.
 */
export const openMention = (text: string, caret: number): OpenMention | undefined => {
  const before = text.slice(0, caret)
  const at = before.lastIndexOf("@")
  if (at < 0 || /[^\s(]/u.test(before.charAt(at - 1))) return undefined
  const typed = before.slice(at + 1)
  return typed.length > mostTyped || typed.includes("\n") ? undefined : { at, typed }
}

/** Returns at most `most` people whose name or address contains the typed text. */
export const suggested = <P extends Person>(
  people: ReadonlyArray<P>,
  typed: string,
  most: number
): ReadonlyArray<P> => {
  const wanted = typed.toLocaleLowerCase()
  return people
    .filter(({ displayName, email }) =>
      [displayName, email].some((name) => name?.toLocaleLowerCase().includes(wanted) === true)
    )
    .slice(0, most)
}

const isInWord = /[\p{L}\p{N}_]/u

/** Returns true if the text contains `@name` as a whole name, not just as the start of a longer name. */
const isMentioned = (text: string, name: string, longer: ReadonlyArray<string>): boolean => {
  for (let at = text.indexOf(`@${name}`); at >= 0; at = text.indexOf(`@${name}`, at + 1)) {
    const end = at + 1 + name.length
    const isPart = isInWord.test(text.charAt(end))
    if (!isPart && !longer.some((other) => text.startsWith(`@${other}`, at))) return true
  }
  return false
}

/** Returns the people that the text mentions. If several people have the same name, returns only the people who were selected. */
export const mentionsIn = (
  text: string,
  people: ReadonlyArray<Person>,
  chosen: ReadonlySet<string>
): ReadonlyArray<string> => {
  const names = people.map(mentionName)
  return people.flatMap((person) => {
    const name = mentionName(person)
    const isUnique = names.filter((other) => other === name).length === 1
    const longer = names.filter((other) => other !== name && other.startsWith(name))
    return (isUnique || chosen.has(person.subject)) && isMentioned(text, name, longer) ? [person.subject] : []
  })
}
