import type { Address, Line } from "./Declarations.ts"

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Builds the address of a request. Parameters without a value are omitted. */
export const apiUrl = (path: string, query: Query = {}): string => {
  const parameters = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(key, String(value))
  }
  const encoded = parameters.toString()
  return encoded === "" ? path : `${path}?${encoded}`
}

/** The values for a route's address: its path parameters and its query. */
export interface Filling {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Query | undefined
}

// The parameters are checked against the route in the signature of `address`.
const isFilling = (filling: unknown): filling is Filling => typeof filling === "object" && filling !== null

/** Builds the address of a route by filling in the parameters. The route may have any method. */
export const addressOf = (line: Line, { params = {}, query }: Filling): string =>
  apiUrl(
    line.slice(line.indexOf(" ") + 1).replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? "")),
    query
  )

/** Builds the address of a route. Accepts exactly the parameters that the route declares. */
export function address<L extends Line>(line: L, filling: Address<L>): string
export function address(line: Line, filling: unknown): string {
  return addressOf(line, isFilling(filling) ? filling : {})
}
