import { Array as Arr, Result } from "effect"
import { diagnosticPath } from "../manifest/DiagnosticPath.ts"
import { type LinkProblem, type LinkProblemCode, LinkRefusal } from "./LinkRefusal.ts"

const maxQueryCharacters = 8192
const moduleInput = /^(?:var|varjson)\./

/** A field name that is safe to show. */
const shownName = (name: string) => diagnosticPath([name]).slice(1)

/** Collects the problems of a link. */
export class LinkProblems {
  readonly #problems: Array<LinkProblem> = []

  add(field: string, code: LinkProblemCode, message: string): void {
    this.#problems.push({ path: field === "" ? "" : shownName(field), code, message })
  }

  /** Returns the link if there were no problems; otherwise the whole link is refused. */
  settle<Link>(link: Link | undefined): Result.Result<Link, LinkRefusal> {
    if (Arr.isReadonlyArrayNonEmpty(this.#problems)) return Result.fail(new LinkRefusal({ problems: this.#problems }))
    return link === undefined
      ? Result.fail(
          new LinkRefusal({ problems: [{ path: "", code: "not_a_link", message: "This is no install link." }] })
        )
      : Result.succeed(link)
  }
}

const decodeValue = (raw: string) => Result.try(() => decodeURIComponent(raw.replaceAll("+", " ")))

/**
 * Splits a raw query (without `?`) into its fields. Names are compared as written: an encoded name is unknown. Anything
 * unknown, repeated, empty or undecodable is a problem.
 */
export const readLinkQuery = (
  query: string,
  known: ReadonlySet<string>,
  problems: LinkProblems
): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  if (query.length > maxQueryCharacters) {
    problems.add("", "too_long", `A link holds at most ${maxQueryCharacters} characters of query.`)
    return fields
  }
  for (const piece of query === "" ? [] : query.split("&")) {
    const equals = piece.indexOf("=")
    const name = equals === -1 ? piece : piece.slice(0, equals)
    const value = decodeValue(equals === -1 ? "" : piece.slice(equals + 1))
    if (moduleInput.test(name)) {
      problems.add(name, "module_input", "Module inputs never travel in a link; they are entered in the form.")
    } else if (name === "") {
      problems.add("", "malformed_query", "A query field without a name.")
    } else if (!known.has(name)) {
      problems.add(name, "unknown_field", `A link of this kind has only the fields ${[...known].join(", ")}.`)
    } else if (fields.has(name)) {
      problems.add(name, "duplicate_field", "A field occurs once.")
    } else if (Result.isFailure(value) || value.success === "") {
      problems.add(name, "malformed_query", "A field has a value, percent-encoded as UTF-8.")
    } else {
      fields.set(name, value.success)
    }
  }
  return fields
}
