export { serviceFetch as handler } from '../../contracts/socket/service.ts'
