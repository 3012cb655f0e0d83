/** The tool of every framework's agent. It knows one city. */
export function weatherIn(city: string): { sunny: string } {
  if (city !== 'Oslo') throw new Error(`there is no ${city}`)
  return { sunny: city }
}
