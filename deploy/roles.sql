-- The role that serves: it reads and writes rows, and cannot change the tables. The owner of the tables runs this once in each database, before
-- `servable store migrate`, with psql 15 or newer:
--   SERVABLE_PASSWORD=… psql "$OWNER_URL" -f roles.sql
\set ON_ERROR_STOP on
\getenv password SERVABLE_PASSWORD
-- A role is of all databases of a server: it may be there, and keeps its password then.
SELECT format('CREATE ROLE servable LOGIN PASSWORD %L', :'password')
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'servable') \gexec
-- What the owner makes from now on.
ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO servable;
ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO servable;
ALTER DEFAULT PRIVILEGES GRANT USAGE ON SEQUENCES TO servable;
ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO servable;
