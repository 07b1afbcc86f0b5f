import { useQuery } from "@tanstack/react-query"
import type { OptionalFamily } from "../../../schema/api/Extensions.ts"
import { familiesOffQuery } from "../api/FamilyQueries.ts"

/**
 * Returns true if the server offers a family that operators may turn off. Nothing is offered until that is known. If it cannot be
 * read, the family is treated as available, and the server refuses its use if it is not.
 */
export const useOffers = (family: OptionalFamily): boolean => {
  const { data, isPending } = useQuery(familiesOffQuery)
  return !isPending && data?.includes(family) !== true
}
