import { GraphQLError, NoSchemaIntrospectionCustomRule, type ValidationRule } from 'graphql';

/** Rules beside those of GraphQL that a document has to keep where clients may not ask for the schema. */
export function schemaRules(introspection: boolean): readonly ValidationRule[] {
  return introspection ? [] : [NoSchemaIntrospectionCustomRule];
}

/** A refusal without the names that graphql-js suggests: they are of a schema that is not to be told. */
export function withoutSuggestions(error: GraphQLError): GraphQLError {
  const message = error.message.replace(/ ?Did you mean .*\?$/s, '');
  return message === error.message ? error : new GraphQLError(message, { nodes: error.nodes ?? null });
}
