/**
 * The types of what a handler serves. A typed client reads the names from them.
 *
 * @module
 */

/** The servables of a handler by kind and name. Names that the compiler does not know are any text. */
export type Served = {
  readonly agents: Readonly<Record<string, unknown>>
  readonly teams: Readonly<Record<string, unknown>>
  readonly workflows: Readonly<Record<string, unknown>>
}

/** The names in a handler's type. */
export type NamesOf<Handler> = Handler extends { readonly '~served'?: infer Names }
  ? Extract<Names, Served>
  : Served

/** A map of no names. */
export type Nothing = Readonly<Record<never, never>>

/**
 * The servables of one kind that are given explicitly: those of a map, and those of a list by their names. If none is given, the
 * registry decides, so any name is possible.
 */
export type ServedOf<Kind extends string, Map, List extends readonly unknown[]> = Known<
  Map & ByName<Extract<List[number], { readonly kind: Kind }>>
>

type ByName<Each> = {
  readonly [One in Each as One extends { readonly name: infer Name extends string } ? Name : never]: One
}

type Known<Map> = [keyof Map] extends [never] ? Readonly<Record<string, unknown>> : Map

/**
 * The type of a servable's structured output: what its `output` validates to if that is a Standard Schema (as those of valibot,
 * zod and ArkType are), else any object.
 */
export type StructuredOf<One> =
  NonNullable<OutputOf<One>> extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Output }
      ? Output
      : object
    : object

type OutputOf<One> = One extends { readonly output?: infer Output } ? Output : unknown
