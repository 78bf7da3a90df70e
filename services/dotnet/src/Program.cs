using System.Diagnostics;
using Locations;

Config config;
Elasticsearch elasticsearch;
try
{
    config = Config.FromEnvironment();
    elasticsearch = new Elasticsearch(config.Elasticsearch);
    await elasticsearch.Reach(TimeSpan.FromSeconds(10)); // one round trip before the server listens
}
catch (ConfigException e)
{
    Console.Error.WriteLine(e.Message);
    return 1;
}

var builder = WebApplication.CreateSlimBuilder(args);
builder.WebHost.UseUrls($"http://0.0.0.0:{config.Port}");
builder.Logging.AddFilter("Microsoft.AspNetCore", LogLevel.Warning);
builder.Logging.AddSimpleConsole(console =>
{
    console.SingleLine = true;
    console.UseUtcTimestamp = true;
    console.TimestampFormat = "yyyy-MM-dd'T'HH:mm:ss.fff'Z' ";
});
builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromSeconds(12)); // for the requests in flight
builder.Services.AddSingleton(new Cities(elasticsearch));

var app = builder.Build();
if (config.AccessLog)
{
    app.Use(async (context, next) =>
    {
        var start = Stopwatch.GetTimestamp();
        try
        {
            await next(context);
        }
        finally
        {
            var request = context.Request;
            app.Logger.LogInformation("{Method} {Path}{Query} {Status} {Elapsed:0}ms", request.Method, request.Path,
                request.QueryString, context.Response.StatusCode, Stopwatch.GetElapsedTime(start).TotalMilliseconds);
        }
    });
}
app.Use(Problems.FromExceptions);
app.UseStatusCodePages(Problems.FromStatus);
app.MapLocations();
await app.RunAsync();
return 0;
