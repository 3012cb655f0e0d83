/** The names of the security schemes of parts with an `authenticate` of their own. Deployments may not use them for theirs. */
export const PART_SCHEMES = {
  admin: 'admin_token',
  metrics: 'metrics_token',
  card: 'card_token',
  keys: 'keys_token',
  budgets: 'budgets_token',
  schedules: 'schedules_token',
} as const
