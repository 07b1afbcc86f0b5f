import { Option, Schema, SchemaTransformation } from "effect"

/** Address to which a listener binds. Port 0 selects a free port. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

const pattern = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/

export const parseListenAddress = (text: string): Option.Option<ListenAddress> => {
  const match = pattern.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host === undefined || port > 65_535 ? Option.none() : Option.some({ host, port })
}

export const formatListenAddress = ({ host, port }: ListenAddress): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`

/**
 * Returns true if only this machine can reach the address. Accepts no name except localhost, because other names may resolve
 * to any address.
 */
export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)

/** Returns true if nobody can read traffic to the address in transit, because it uses HTTPS or does not leave this machine. */
export const isPrivateInTransit = (url: URL): boolean =>
  url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname.replace(/^\[(.*)\]$/, "$1")))

const Parsed = Schema.Struct({ host: Schema.String, port: Schema.Int })

/** `host:port`, with IPv6 hosts in brackets. */
export const ListenAddress = Schema.String.check(
  Schema.makeFilter((text: string) => Option.isSome(parseListenAddress(text)), {
    expected: "host:port with a port from 0 to 65535, e.g. 127.0.0.1:8787 or [::1]:8787"
  })
).pipe(
  Schema.decodeTo(
    Parsed,
    SchemaTransformation.transform({
      decode: (text) => Option.getOrElse(parseListenAddress(text), () => ({ host: "127.0.0.1", port: 0 })),
      encode: formatListenAddress
    })
  )
)
